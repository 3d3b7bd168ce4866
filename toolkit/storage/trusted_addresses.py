"""Trusted addresses: only those that the operator names get a token, a ticket or a session of the operator.

A user who may change the config repo may point a store at any address, with the `hadoop_conf` of a cluster entity. What
proves who the operator is goes to an address only when a file or variable of the operator names it for that service.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolkit.errors import InvalidInput
from toolkit.storage.errors import PermissionDenied
from toolkit.storage.hadoop_conf import CONF_VARIABLE, conf_dir, operator_settings
from toolkit.variables import Variables

if TYPE_CHECKING:
    from toolkit.storage.port import StorageSpec

TRUSTED_VARIABLE = "FEEDCTL_TRUSTED_ENDPOINTS"
"""Environment variable with further addresses, parted by commas: ``httpfs:14000``, ``https://minio:9000``."""

_RPC = ("dfs.namenode.rpc-address", 8020)
_KEYS = {
    "hdfs": _RPC,
    "webhdfs": ("dfs.namenode.http-address", 9870),
    "swebhdfs": ("dfs.namenode.https-address", 9871),
}
_PROTOCOLS = {"webhdfs": "http", "swebhdfs": "https"}
_NODES = "dfs.ha.namenodes."
_AMAZON = re.compile(
    r"(?:[a-z0-9.-]+\.)?s3(?:-[a-z0-9-]+)?(?:\.dualstack)?(?:\.[a-z0-9-]+)?(?:\.vpce)?\.amazonaws\.com(\.cn)?"
)
"""Not all of Amazon's domain: anybody can have a server with a name below it."""


class UntrustedAddress(InvalidInput):
    """A token or ticket would go to an address that only the config repo names.

    Args:
        store: scheme and authority.
        what: would be handed out.
        address: who would get it.
        named: what the operator names instead.
        key: the setting that would name it.
        directory: of Hadoop's own files; empty: there is none.
    """

    def __init__(self, *, store: str, what: str, address: str, named: Sequence[str], key: str, directory: str) -> None:
        self.store, self.what, self.address, self.named = store, what, address, tuple(named)
        self.key, self.directory = key, directory
        known = f"{CONF_VARIABLE}={directory}" if directory else f"{CONF_VARIABLE} (not set)"
        expected = f"one of {', '.join(named)}, which {known} names" if named else f"one that {known} names for it"
        super().__init__(
            f"{store}: {what} would go to {address}, which only the config repo names, expected {expected}; "
            f"if the address is right, set {key} in hdfs-site.xml of {CONF_VARIABLE}, or name it in {TRUSTED_VARIABLE}"
        )


class UntrustedEndpoint(PermissionDenied):
    """A session token of S3 would go to an end point that only the config repo names; `detail` has it."""

    text = (
        "the session token of this machine's temporary credentials would go to an end point that only the config repo "
        "names, expected Amazon's own over https or one that the operator names; if it is right, name it in "
        f"AWS_ENDPOINT_URL_S3 or {TRUSTED_VARIABLE}, or use keys that were made for that store"
    )


class UntrustedKeyProvider(InvalidInput):
    """A ticket would go to a key server that only the config repo names.

    Args:
        store: scheme and authority.
        key: the setting.
        found: its value in the config repo.
    """

    def __init__(self, *, store: str, key: str, found: str) -> None:
        self.store, self.key, self.found = store, key, found
        super().__init__(
            f"{store}: {key} of the config repo is {found!r}, and a ticket would go there; remove it from hadoop_conf, "
            f"and if it is right, set it in core-site.xml of {CONF_VARIABLE}"
        )


def refuse_untrusted(
    spec: StorageSpec,
    addresses: Iterable[str],
    what: str,
    *,
    also: Iterable[str] = (),
    environment: Variables,
) -> None:
    """Look at who would get something, before anybody is asked.

    Args:
        spec: which store.
        addresses: all NameNodes, as ``host:port``.
        what: would be handed out, for the message.
        also: ``host:port`` that what is handed out names itself.
        environment: says where HADOOP_CONF_DIR is, and names further addresses.

    Raises:
        UntrustedAddress: the operator does not name one of them for this service.
    """
    operators = operator_settings(environment)
    service = _service(spec, operators)
    named = sorted(_named(spec, service, operators))
    trusted = {*named, *(each.lower() for each in also), *_further(spec.scheme, environment)}
    for address in addresses:
        if address.lower() not in trusted:
            raise UntrustedAddress(
                store=f"{spec.scheme}://{spec.authority}",
                what=what,
                address=address,
                named=named,
                key=f"{_KEYS[spec.scheme][0]}{f'.{service}.NODE' if service else ''}",
                directory=str(conf_dir(environment) or ""),
            )


def is_trusted_endpoint(url: str, environment: Variables) -> bool:
    """Return whether an end point of S3 is Amazon's own over https, or one that the operator names."""
    split = urlsplit(url)
    if split.scheme == "https" and split.port in {None, 443} and _AMAZON.fullmatch(split.hostname or ""):
        return True
    own = (environment.get(name, "") for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
    return url.rstrip("/").lower() in {*(each.rstrip("/").lower() for each in own if each), *_entries(environment)}


def _further(scheme: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Entries without a protocol are for all; one with https is not meant for what goes in plain text."""
    for entry in _entries(environment):
        protocol, separator, address = entry.rpartition("://")
        if not separator or protocol in {scheme, _PROTOCOLS.get(scheme)}:
            yield address


def _entries(environment: Mapping[str, str]) -> list[str]:
    return [
        each.strip().rstrip("/").lower() for each in environment.get(TRUSTED_VARIABLE, "").split(",") if each.strip()
    ]


def _service(spec: StorageSpec, operators: Mapping[str, str]) -> str:
    """The name service that the store is; empty: it is a host."""
    described = {key.lower() for key, value in {**operators, **spec.hadoop_conf}.items() if value}
    return spec.authority if f"{_NODES}{spec.authority}".lower() in described else ""


def _named(spec: StorageSpec, service: str, operators: Mapping[str, str]) -> set[str]:
    """Return the operator's addresses of a name service; for a host, those of any service."""
    key, port = _KEYS[spec.scheme]
    found = {with_port(value, port) for value in _values(key, service, operators)}
    nodes = set(_values(_RPC[0], service, operators)) | ({_default(operators)} - {""} if not service else set())
    if spec.scheme == "hdfs":
        return found | {with_port(node, port) for node in nodes}
    # Who leaves the web address out means Hadoop's own port on the same host.
    return found or {with_port(_host(node), port) for node in nodes}


def _values(key: str, service: str, settings: Mapping[str, str]) -> Iterator[str]:
    start = f"{key}.{service}".lower() if service else key
    for name, value in settings.items():
        if value and (name.lower() == start or name.lower().startswith(f"{start}.")):
            yield value.strip().lower()


def _default(settings: Mapping[str, str]) -> str:
    """Host and port of the default file system; its name service is among the addresses anyway."""
    split = urlsplit(settings.get("fs.defaultFS", ""))
    is_service = any(key.lower() == f"{_NODES}{split.netloc}".lower() for key in settings)
    return split.netloc.lower() if split.scheme in _KEYS and not is_service else ""


def _host(authority: str) -> str:
    return authority.rpartition(":")[0] if _has_port(authority) else authority


def with_port(authority: str, port: int) -> str:
    """An authority with its port, or this one."""
    return authority if _has_port(authority) else f"{authority}:{port}"


def _has_port(authority: str) -> bool:
    behind = authority.rpartition("]")[2]
    return ":" in behind and behind.rpartition(":")[2].isdigit()
