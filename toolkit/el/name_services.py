"""Name services of HDFS: several NameNodes under one name, as Hadoop's settings describe them (DESIGN section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_DEFAULT_PORT = ":8020"
_RPC_ADDRESS = "dfs.namenode.rpc-address"


def name_service_aliases(hadoop_conf: Mapping[str, str | float | bool]) -> dict[str, str]:
    """The authorities under which a name service is known besides its own name.

    Args:
        hadoop_conf: ``dfs.nameservices``, ``dfs.ha.namenodes.ID`` and ``dfs.namenode.rpc-address.ID[.NODE]``; keys
            that are missing say nothing, and an address that two services claim belongs to neither.

    Returns:
        Authority in its canonical form (lower case, without the default port) to the name of its service.
    """
    aliases: dict[str, str] = {}
    disputed: set[str] = set()
    for service in _names(hadoop_conf.get("dfs.nameservices", "")):
        for address in _addresses(service, hadoop_conf):
            if aliases.setdefault(address, service.lower()) != service.lower():
                disputed.add(address)
    return {address: service for address, service in aliases.items() if address not in disputed}


def _addresses(service: str, hadoop_conf: Mapping[str, str | float | bool]) -> Iterator[str]:
    nodes = _names(hadoop_conf.get(f"dfs.ha.namenodes.{service}", ""))
    keys = [f"{_RPC_ADDRESS}.{service}", *(f"{_RPC_ADDRESS}.{service}.{node}" for node in nodes)]
    for key in keys:
        address = str(hadoop_conf.get(key, "")).strip().lower()
        if address:
            yield address.removesuffix(_DEFAULT_PORT)


def _names(value: str | float | bool) -> list[str]:  # noqa: FBT001 - a setting may be a bool
    return [name.strip() for name in str(value).split(",") if name.strip()]
