"""As whom WebHDFS is asked: by a delegation token, by Kerberos, or by a name that the cluster believes."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hdfs import InsecureClient, TokenClient
from requests import Session
from requests.adapters import HTTPAdapter

from toolkit.errors import InvalidInput
from toolkit.storage.token_file import HadoopToken, tokens_of

if TYPE_CHECKING:
    from toolkit.storage.spec import StorageSpec

_CONNECTIONS = 32
_KINDS = frozenset({"HDFS_DELEGATION_TOKEN", "WEBHDFS delegation", "SWEBHDFS delegation"})
"""One manager of the NameNode makes all three, and WebHDFS takes each."""


class KerberosMissing(InvalidInput):
    """The cluster asks for Kerberos, and what WebHDFS needs for that is not installed."""

    def __init__(self, *, authority: str, found: str) -> None:
        self.authority, self.found = authority, found
        super().__init__(
            f"webhdfs://{authority} asks for Kerberos, which needs the extra kerberos ({found}); "
            "install feedctl[kerberos], or give a delegation token by HADOOP_TOKEN_FILE_LOCATION"
        )


class UnreadableTokenFile(InvalidInput):
    """HADOOP_TOKEN_FILE_LOCATION names a file that can't be read."""

    def __init__(self, *, file: str, found: str) -> None:
        self.file, self.found = file, found
        super().__init__(f"HADOOP_TOKEN_FILE_LOCATION={file}: {found}; correct it, or unset the variable")


def session_of(
    spec: StorageSpec, urls: Sequence[str], settings: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> Session:
    """A session that proves the identity with each request; the `hdfs` package knows how.

    Only its way of authenticating is used: its calls expand ``#LATEST`` and normalise paths, which changes which file
    is meant, and send a call again that may have taken effect.

    Raises:
        KerberosMissing: the settings ask for Kerberos, no token fits, and the extra is not installed.
        UnreadableTokenFile: the token file can't be read.
        BadTokenFile: it is none.
    """
    session = Session()
    for protocol in ("http://", "https://"):
        session.mount(protocol, HTTPAdapter(pool_maxsize=_CONNECTIONS))
    text = ";".join(urls)
    token = _token(spec, urls, environment)
    if token is not None:
        TokenClient(text, token.as_url_text(), session=session)
        return session
    # A token names whom it is for already.
    session.params = {"doas": environment["HADOOP_PROXY_USER"]} if environment.get("HADOOP_PROXY_USER") else {}
    if settings.get("hadoop.security.authentication", "simple").lower() == "kerberos":
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


def _token(spec: StorageSpec, urls: Sequence[str], environment: Mapping[str, str]) -> HadoopToken | None:
    file = environment.get("HADOOP_TOKEN_FILE_LOCATION", "")
    if not file:
        return None
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise UnreadableTokenFile(file=file, found=error.strerror or str(error)) from error
    takers = _takers(spec.authority, urls)
    fitting = (token for token in tokens_of(content) if token.kind in _KINDS)
    return next((token for token in fitting if _taker(token.service) in takers), None)


def _taker(service: str) -> str:
    """A name service, or a host without its port: that of RPC differs from that of HTTP."""
    kind, separator, name = service.partition(":")
    return name if separator and kind.startswith("ha-") else kind


def _takers(authority: str, urls: Sequence[str]) -> frozenset[str]:
    hosts = {url.partition("://")[2].rpartition(":")[0] for url in urls}
    return frozenset({authority, *hosts, *(address for host in hosts for address in _addresses(host))})


def _addresses(host: str) -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except OSError:
        return []
