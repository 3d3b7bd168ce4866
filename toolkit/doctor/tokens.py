"""The delegation tokens that this process was given, and how long they live, read from their identifiers.

`org.apache.hadoop.security.token.delegation.AbstractDelegationTokenIdentifier`: a version byte 0, owner, renewer and
real user as `Text`, issue date and maximum date as milliseconds in `WritableUtils.writeVLong`. HDFS, WebHDFS, KMS and
Hive write it so; the tokens of YARN are protobuf, and are told to have a life that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from toolkit.doctor.findings import CheckResult, failed, ok, skipped, warning
from toolkit.storage.hdfs.tokens import TOKEN_VARIABLE, tokens_here
from toolkit.storage.tokens import Cursor, HadoopToken, TooShort

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def in_words(span: timedelta) -> str:
    """The two largest units of a span: ``6 d 23 h``, ``5 min``."""
    left = max(0, int(span.total_seconds()))
    parts = []
    for seconds, unit in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


_LATEST = 253_402_300_799_000
"""The end of the year 9999, in milliseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenLife:
    """Owner and end of a token.

    Attributes:
        owner: acts with it.
        ends: when it ends at the latest, however often it is renewed.
    """

    owner: str
    ends: datetime


def token_life(identifier: bytes) -> TokenLife | None:
    """The life of a token; None: its identifier is of another kind."""
    cursor = Cursor(identifier)
    try:
        if cursor.take(1) != b"\x00":
            return None
        owner, _, _ = cursor.text(), cursor.text(), cursor.text()
        _, ends = cursor.vlong(), cursor.vlong()
    except (TooShort, UnicodeDecodeError):
        return None
    if not 0 <= ends <= _LATEST:
        return None
    return TokenLife(owner=owner, ends=datetime.fromtimestamp(ends / 1000, UTC))


_SOON = timedelta(hours=1)


def token_findings(variables: Mapping[str, str], now: datetime) -> Iterator[CheckResult]:
    """Yield one finding for each token; what proves it is never shown.

    Raises:
        UnreadableTokenFile: the file can't be read.
        BadTokenFile: the file holds none.
    """
    file = variables.get(TOKEN_VARIABLE, "")
    if not file:
        yield skipped(f"{TOKEN_VARIABLE} is not set")
        return
    tokens = tokens_here(variables)
    if not tokens:
        yield warning(
            f"{file} holds no token", todo=f"get one, for example with hdfs fetchdt, or unset {TOKEN_VARIABLE}"
        )
    for token in tokens:
        yield _finding(token, now)


def _finding(token: HadoopToken, now: datetime) -> CheckResult:
    what = f"{token.kind} for {token.service}"
    life = token_life(token.identifier)
    if life is None:
        return ok("its life is not known", what=what)
    found = f"of {life.owner}, {_end(life, now)}"
    if life.ends <= now:
        return failed(found, todo="get a new token", what=what)
    if life.ends - now < _SOON:
        return warning(found, todo="get a new token before a long run", what=what)
    return ok(found, what=what)


def _end(life: TokenLife, now: datetime) -> str:
    if life.ends <= now:
        return f"expired {_moment(life.ends)}, {in_words(now - life.ends)} ago"
    return f"expires {_moment(life.ends)}, in {in_words(life.ends - now)} at the latest"


def _moment(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%MZ")
