"""Where the NameNodes of a WebHDFS listen: the authority itself, or all of a name service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolkit.errors import InvalidInput
from toolkit.storage.trusted_addresses import with_port

_PLAIN = {
    "webhdfs": ("http", "dfs.namenode.http-address", 9870),
    "swebhdfs": ("https", "dfs.namenode.https-address", 9871),
}


class UnknownNameNodes(InvalidInput):
    """A name service whose NameNodes have no HTTP address in the settings.

    Args:
        service: the name service.
        key: the setting that is missing.
    """

    def __init__(self, *, service: str, key: str) -> None:
        self.service, self.key = service, key
        todo = "add it to hdfs-site.xml of HADOOP_CONF_DIR, or to the cluster's hadoop_conf"
        super().__init__(f"name service {service}: {key} is not set; {todo}")


def name_node_urls(scheme: str, authority: str, settings: Mapping[str, str]) -> Sequence[str]:
    """The base addresses to ask, in turn until one is active: ``http://host:9870``.

    Args:
        scheme: ``webhdfs`` or ``swebhdfs``.
        authority: host and port, or a name service that the settings know (``dfs.ha.namenodes.NAME``).
        settings: by their Hadoop names.

    Raises:
        UnknownNameNodes: the settings know the name service but not the addresses of its NameNodes.
    """
    protocol, key, port = _PLAIN[scheme]
    nodes = [node.strip() for node in settings.get(f"dfs.ha.namenodes.{authority}", "").split(",") if node.strip()]
    if not nodes:
        return [f"{protocol}://{with_port(authority, port)}"]
    return [
        f"{protocol}://{with_port(_address(authority, f'{key}.{authority}.{node}', settings), port)}" for node in nodes
    ]


def _address(service: str, key: str, settings: Mapping[str, str]) -> str:
    address = settings.get(key, "")
    if not address:
        raise UnknownNameNodes(service=service, key=key)
    return address
