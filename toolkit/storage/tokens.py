"""Numbers and byte strings as Hadoop's Writable format and protobuf have them; just what a token file needs."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolkit.errors import InvalidInput

_ONE_BYTE_FROM = -112
_NEGATIVE_BELOW = -120
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


class TooShort(Exception):  # noqa: N818 - named for what was found; callers make their own error of it
    """The bytes end in the middle of a value, or hold what the format does not have."""


class Cursor:
    """Reads one value after the other from bytes; every method raises `TooShort`."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    @property
    def is_at_end(self) -> bool:
        """True if everything was read."""
        return self._at >= len(self._content)

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if size < 0 or self._at + size > len(self._content):
            message = f"it ends at byte {len(self._content)}, where {size} more are announced at {self._at}"
            raise TooShort(message)
        self._at += size
        return self._content[self._at - size : self._at]

    def vlong(self) -> int:
        """A number of `WritableUtils.writeVLong`."""
        first = int.from_bytes(self.take(1), signed=True)
        if first >= _ONE_BYTE_FROM:
            return first
        is_negative = first < _NEGATIVE_BELOW
        size = (_NEGATIVE_BELOW if is_negative else _ONE_BYTE_FROM) - first
        value = int.from_bytes(self.take(size))
        return ~value if is_negative else value

    def sized(self) -> bytes:
        """Bytes with their number in front, as a `Text` and a token's parts have."""
        return self.take(self.vlong())

    def text(self) -> str:
        """A `Text`."""
        return self.sized().decode()

    def varint(self) -> int:
        """A number of protobuf."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
                return value
            shift += 7


def protobuf_fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that are bytes, text or messages, by number; numbers are skipped.

    Raises:
        TooShort: it ends in the middle, or has a kind of field that is not known.
    """
    cursor = Cursor(message)
    while not cursor.is_at_end:
        tag = cursor.varint()
        number, kind = tag >> 3, tag & 7
        if kind == _BYTES:
            yield number, cursor.take(cursor.varint())
        elif kind == _VARINT:
            cursor.varint()
        elif kind in {_FIXED_32, _FIXED_64}:
            cursor.take(8 if kind == _FIXED_64 else 4)
        else:
            unknown = f"a field of kind {kind}"
            raise TooShort(unknown)


def vint(value: int) -> bytes:
    """A number that is not negative as `WritableUtils.writeVInt` writes it."""
    if value <= 127:  # noqa: PLR2004 - the largest number of one byte
        return bytes([value])
    raw = value.to_bytes((value.bit_length() + 7) // 8)
    return bytes([(_ONE_BYTE_FROM - len(raw)) % 256]) + raw


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
    """A token.

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
