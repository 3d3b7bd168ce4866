"""Hadoop's token storage file, where YARN and `hdfs fetchdt` leave delegation tokens (HADOOP_TOKEN_FILE_LOCATION).

From `org.apache.hadoop.security.Credentials`: the magic ``HDTS``, a version byte, then either Hadoop's own Writable
format (0) or one length-delimited protobuf message (1). Nothing here is ever printed: a token is a password.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolkit.errors import InvalidInput
from toolkit.storage.hadoop_wire import Cursor, TooShort, protobuf_fields, vint

_MAGIC = b"HDTS"
_WRITABLE, _PROTOBUF = 0, 1
_TOKENS, _TOKEN = 1, 2
_IDENTIFIER, _PASSWORD, _KIND, _SERVICE = 1, 2, 3, 4


class BadTokenFile(InvalidInput):
    """The file holds no Hadoop tokens that can be read.

    Args:
        found: what is wrong.
    """

    def __init__(self, *, found: str) -> None:
        self.found = found
        super().__init__(f"not a Hadoop token file ({found}); get a new one, for example with hdfs fetchdt")


@dataclass(frozen=True, kw_only=True, slots=True)
class HadoopToken:
    """One token.

    Attributes:
        kind: for example ``HDFS_DELEGATION_TOKEN``.
        service: who takes it: ``10.0.0.1:8020`` or ``ha-hdfs:ns1``.
        identifier: who it is for and how long it lives, see `toolkit.storage.token_life`.
        password: what proves it; secret.
    """

    kind: str
    service: str
    identifier: bytes = field(repr=False)
    password: bytes = field(repr=False)

    def as_url_text(self) -> str:
        """The token as WebHDFS takes it in ``delegation=``: secret, and never to be shown."""
        kind, service = self.kind.encode(), self.service.encode()
        parts = (self.identifier, self.password, kind, service)
        written = b"".join(vint(len(part)) + part for part in parts)
        return base64.urlsafe_b64encode(written).rstrip(b"=").decode("ascii")


def tokens_of(content: bytes) -> Sequence[HadoopToken]:
    """The tokens in the bytes of a token storage file.

    Raises:
        BadTokenFile: it is none, or of a version that is not known.
    """
    if content[:4] != _MAGIC or len(content) <= len(_MAGIC):
        raise BadTokenFile(found="it does not begin with HDTS and a version")
    version, body = content[4], content[5:]
    if version not in {_WRITABLE, _PROTOBUF}:
        raise BadTokenFile(found=f"version {version}, known are 0 and 1")
    try:
        return list(_writable(Cursor(body)) if version == _WRITABLE else _protobuf(Cursor(body)))
    except (TooShort, UnicodeDecodeError) as error:
        raise BadTokenFile(found=str(error)) from error


def _writable(cursor: Cursor) -> Iterator[HadoopToken]:
    for _ in range(cursor.vlong()):
        cursor.sized()  # the alias: a name inside the file, usually the service again
        identifier, password = cursor.sized(), cursor.sized()
        yield HadoopToken(identifier=identifier, password=password, kind=cursor.text(), service=cursor.text())


def _protobuf(cursor: Cursor) -> Iterator[HadoopToken]:
    for number, entry in protobuf_fields(cursor.take(cursor.varint())):
        if number == _TOKENS:
            yield from (_protobuf_token(value) for key, value in protobuf_fields(entry) if key == _TOKEN)


def _protobuf_token(message: bytes) -> HadoopToken:
    fields = dict(protobuf_fields(message))
    return HadoopToken(
        identifier=fields.get(_IDENTIFIER, b""),
        password=fields.get(_PASSWORD, b""),
        kind=fields.get(_KIND, b"").decode(),
        service=fields.get(_SERVICE, b"").decode(),
    )
