"""How long a delegation token lives, read from its identifier.

`org.apache.hadoop.security.token.delegation.AbstractDelegationTokenIdentifier`: a version byte 0, owner, renewer and
real user as `Text`, issue date and maximum date as milliseconds in `WritableUtils.writeVLong`. HDFS, WebHDFS, KMS and
Hive write it so; the tokens of YARN are protobuf, and are told to have a life that is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.storage.hadoop_wire import Cursor, TooShort

_LATEST = 253_402_300_799_000
"""The end of the year 9999, in milliseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenLife:
    """Whose token it is and how long it can live.

    Attributes:
        owner: acts with it.
        renewer: may renew it, which has to be done within each period of renewal (a day, if nothing else is set).
        issued: when it was given out.
        ends: when it ends at the latest, however often it is renewed.
    """

    owner: str
    renewer: str
    issued: datetime
    ends: datetime


def token_life(identifier: bytes) -> TokenLife | None:
    """The life of a token; None: its identifier is of another kind."""
    cursor = Cursor(identifier)
    try:
        if cursor.take(1) != b"\x00":
            return None
        owner, renewer, _ = cursor.text(), cursor.text(), cursor.text()
        issued, ends = cursor.vlong(), cursor.vlong()
    except (TooShort, UnicodeDecodeError):
        return None
    if not 0 <= issued <= ends <= _LATEST:
        return None
    return TokenLife(owner=owner, renewer=renewer, issued=_instant(issued), ends=_instant(ends))


def _instant(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
