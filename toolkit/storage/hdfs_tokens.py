"""Delegation tokens of HDFS: under which address of a NameNode the client library finds its token."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

from toolkit.storage.token_file import BadTokenFile, tokens_of

_KIND = "HDFS_DELEGATION_TOKEN"


def token_address(address: str, environment: Mapping[str, str] = os.environ) -> str:
    """The address for which there is a token, else the one that was given.

    Hadoop writes a NameNode's number into its tokens (``hadoop.security.token.service.use_ip``) where the settings
    have its name; the library compares the two as text, and would find no token. Names of services are alike in both.

    Args:
        address: host and port of one NameNode.
        environment: HADOOP_TOKEN_FILE_LOCATION says where tokens are. A file that can't be read has none: who needs
            them is told by the NameNode.
    """
    services = _services(environment.get("HADOOP_TOKEN_FILE_LOCATION", ""))
    if not services or address in services:
        return address
    host, _, port = address.rpartition(":")
    return next((each for each in (f"{number}:{port}" for number in _numbers(host)) if each in services), address)


def _services(file: str) -> set[str]:
    try:
        content = Path(file).read_bytes() if file else b""
        return {token.service for token in tokens_of(content) if token.kind == _KIND} if content else set()
    except (OSError, BadTokenFile):
        return set()


def _numbers(host: str) -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except OSError:
        return []
