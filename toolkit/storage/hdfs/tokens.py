"""Delegation tokens of HDFS: the one place that hands them out, and that lets a ticket be used.

The files that hold tokens are read by `toolkit.storage.tokens`; which addresses may get one says
`toolkit.storage.trusted_addresses`. The library of `hdfs:` takes tokens and tickets by itself, so it is only given an
address that was looked at here.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.errors import InvalidInput
from toolkit.storage.hadoop_conf import asks_for_kerberos, operator_settings
from toolkit.storage.tokens import BadTokenFile, HadoopToken, tokens_of
from toolkit.storage.trusted_addresses import UntrustedAddress, UntrustedKeyProvider, refuse_untrusted
from toolkit.variables import Variables

if TYPE_CHECKING:
    from toolkit.storage.port import StorageSpec


TOKEN_VARIABLE = "HADOOP_TOKEN_FILE_LOCATION"  # noqa: S105 - a variable's name
"""Name of the variable that names the file of tokens of YARN or `hdfs fetchdt`."""

_RPC_KIND = "HDFS_DELEGATION_TOKEN"
_KINDS = {
    "hdfs": frozenset({_RPC_KIND}),
    "webhdfs": frozenset({_RPC_KIND, "WEBHDFS delegation", "SWEBHDFS delegation"}),
    "swebhdfs": frozenset({_RPC_KIND, "WEBHDFS delegation", "SWEBHDFS delegation"}),
}
"""One manager of the NameNode makes all three, and WebHDFS takes each."""
_WEB_PORTS = {"webhdfs": 9870, "swebhdfs": 9871}
_KEY_PROVIDERS = ("hadoop.security.key.provider.path", "dfs.encryption.key.provider.uri")


class UnreadableTokenFile(InvalidInput):
    """HADOOP_TOKEN_FILE_LOCATION names a file that can't be read."""

    def __init__(self, *, file: str, found: str) -> None:
        self.file, self.found = file, found
        super().__init__(f"{TOKEN_VARIABLE}={file}: {found}; correct it, or unset the variable")


def tokens_here(environment: Variables) -> Sequence[HadoopToken]:
    """The tokens that this process was given.

    Raises:
        UnreadableTokenFile: the file can't be read.
        BadTokenFile: it is none.
    """
    file = environment.get(TOKEN_VARIABLE, "")
    if not file:
        return ()
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise UnreadableTokenFile(file=file, found=error.strerror or str(error)) from error
    return tokens_of(content)


def handed_out(
    spec: StorageSpec,
    addresses: Sequence[str],
    settings: Mapping[str, str],
    environment: Variables,
) -> HadoopToken | None:
    """The token for a store; None: there is none that fits, and a ticket may be used if the settings ask for Kerberos.

    Args:
        spec: which store.
        addresses: its NameNodes, as ``host:port``.
        settings: Hadoop's, of the store.
        environment: of the process.

    Raises:
        UntrustedAddress: a token fits or a ticket is asked for, and the operator does not name one of the addresses.
        UnreadableTokenFile: the token file can't be read; on `hdfs:` that is the library's matter.
        BadTokenFile: it is none.
    """
    tokens = _readable(environment) if spec.scheme == "hdfs" else tokens_here(environment)
    token = _fitting(spec, addresses, tokens)
    if token is not None:
        refuse_untrusted(spec, addresses, "the delegation token", also=_own(spec, token), environment=environment)
    elif asks_for_kerberos(settings):
        refuse_untrusted(spec, addresses, "a Kerberos ticket", environment=environment)
    return token


def library_settings(
    spec: StorageSpec,
    addresses: Sequence[str],
    settings: Mapping[str, str],
    environment: Variables,
) -> Mapping[str, str]:
    """Return further settings for the library of `hdfs:`, which finds tokens and tickets by itself.

    It shows a ticket to the key server of an encryption zone, whatever the settings say of Kerberos. A NameNode may
    name that server; one that the operator does not name may not.

    Args:
        spec: which store.
        addresses: its NameNodes, as ``host:port``.
        settings: Hadoop's, of the store.
        environment: of the process. A token file that can't be read has none: the NameNode says so.

    Raises:
        UntrustedAddress: see `handed_out`.
        UntrustedKeyProvider: the config repo names a key server, and the operator does not name the same.
    """
    operators = operator_settings(environment)
    for key in _KEY_PROVIDERS:
        found = spec.hadoop_conf.get(key, "").strip()
        if found and found != operators.get(key, ""):
            raise UntrustedKeyProvider(store=f"hdfs://{spec.authority}", key=key, found=found)
    if handed_out(spec, addresses, settings, environment) is not None or asks_for_kerberos(settings):
        return {}
    try:
        refuse_untrusted(spec, addresses, "a Kerberos ticket", environment=environment)
    except UntrustedAddress:
        return {_KEY_PROVIDERS[0]: operators.get(_KEY_PROVIDERS[0], "")}
    return {}


def token_address(address: str, environment: Variables) -> str:
    """The address for which there is a token, else the one that was given.

    Hadoop writes a NameNode's number into its tokens (``hadoop.security.token.service.use_ip``) where the settings
    have its name; the library compares the two as text, and would find no token. Names of services are alike in both.

    Args:
        address: host and port of one NameNode.
        environment: HADOOP_TOKEN_FILE_LOCATION says where tokens are. A file that can't be read has none: who needs
            them is told by the NameNode.
    """
    services = {token.service for token in _readable(environment) if token.kind == _RPC_KIND}
    if not services or address in services:
        return address
    host, _, port = address.rpartition(":")
    return next((each for each in (f"{number}:{port}" for number in _numbers(host)) if each in services), address)


def _readable(environment: Mapping[str, str]) -> Sequence[HadoopToken]:
    try:
        return tokens_here(environment)
    except (UnreadableTokenFile, BadTokenFile):
        return ()


def _fitting(spec: StorageSpec, addresses: Sequence[str], tokens: Iterable[HadoopToken]) -> HadoopToken | None:
    """By the texts first: a resolver may take its time. On `hdfs:` only by them, since the library does not resolve."""
    fitting = [token for token in tokens if token.kind in _KINDS[spec.scheme]]
    hosts = {address.rpartition(":")[0] for address in addresses}
    found = _taken_by({spec.authority, *hosts}, fitting)
    if found is not None or not fitting or spec.scheme == "hdfs":
        return found
    return _taken_by({number for host in hosts for number in _numbers(host)}, fitting)


def _taken_by(takers: Iterable[str], tokens: Sequence[HadoopToken]) -> HadoopToken | None:
    lower = {taker.lower() for taker in takers}
    return next((token for token in tokens if _taker(token.service) in lower), None)


def _taker(service: str) -> str:
    """A name service, or a host without its port: that of RPC differs from that of HTTP."""
    kind, separator, name = service.lower().partition(":")
    return name if separator and kind.startswith("ha-") else kind


def _own(spec: StorageSpec, token: HadoopToken) -> Iterator[str]:
    """The address that a token names itself, which is the operator's word too; for the web, at Hadoop's port there."""
    host, _, port = token.service.rpartition(":")
    if port.isdigit():
        yield f"{host}:{_WEB_PORTS.get(spec.scheme, port)}"


def _numbers(host: str) -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []
