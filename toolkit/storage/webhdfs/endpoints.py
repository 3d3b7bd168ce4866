"""Address of WebHDFS, and the user of its calls."""

from __future__ import annotations

import getpass
import logging
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from hdfs import InsecureClient, TokenClient
from requests import Session

from toolkit.errors import InvalidInput
from toolkit.storage.hadoop_conf import asks_for_kerberos
from toolkit.storage.hdfs.tokens import handed_out
from toolkit.storage.http_bodies import BoundedAdapter
from toolkit.storage.trusted_addresses import with_port
from toolkit.variables import Variables

if TYPE_CHECKING:
    from toolkit.storage.port import StorageSpec


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


_CONNECTIONS = 32
_LOG = logging.getLogger(__name__)
_PLAIN_IDENTITY = (
    "webhdfs://%s: the delegation token goes over plain HTTP, and who reads it on the way acts as its owner until it "
    "ends; let the NameNodes listen to HTTPS and use swebhdfs://%s"
)


class KerberosMissing(InvalidInput):
    """The cluster asks for Kerberos, and what WebHDFS needs for that is not installed."""

    def __init__(self, *, authority: str, found: str) -> None:
        self.authority, self.found = authority, found
        super().__init__(
            f"webhdfs://{authority} asks for Kerberos, which needs the extra kerberos ({found}); "
            "install feedctl[kerberos], or give a delegation token by HADOOP_TOKEN_FILE_LOCATION"
        )


def session_of(spec: StorageSpec, urls: Sequence[str], settings: Mapping[str, str], environment: Variables) -> Session:
    """A session that proves the identity with each request; the `hdfs` package knows how.

    Only its way of authenticating is used: its calls expand ``#LATEST`` and normalise paths, which changes which file
    is meant, and send a call again that may have taken effect.

    A token over plain HTTP is warned of: it is all that one needs to act for its owner.

    Raises:
        UntrustedAddress: a token or a ticket would go to an address that the operator does not name.
        KerberosMissing: the settings ask for Kerberos, no token fits, and the extra is not installed.
        UnreadableTokenFile: the token file can't be read.
        BadTokenFile: it is none.
    """
    session = Session()
    for protocol in ("http://", "https://"):
        session.mount(protocol, BoundedAdapter(pool_maxsize=_CONNECTIONS))
    text = ";".join(urls)
    token = handed_out(spec, [url.partition("://")[2] for url in urls], settings, environment)
    if token is not None:
        if spec.scheme == "webhdfs":
            _LOG.warning(_PLAIN_IDENTITY, spec.authority, spec.authority)
        TokenClient(text, token.as_url_text(), session=session)
        return session
    # A token names whom it is for already.
    session.params = {"doas": environment["HADOOP_PROXY_USER"]} if environment.get("HADOOP_PROXY_USER") else {}
    if asks_for_kerberos(settings):
        _use_kerberos(spec, text, session)
    else:
        user = spec.user or environment.get("HADOOP_USER_NAME", "") or getpass.getuser()
        InsecureClient(text, user=user, session=session)
    return session


def _use_kerberos(spec: StorageSpec, url: str, session: Session) -> None:
    try:
        module = import_module("hdfs.ext.kerberos")
    except (ImportError, OSError) as error:
        raise KerberosMissing(authority=spec.authority, found=str(error)) from error
    module.KerberosClient(url, session=session)
