"""The delegation tokens that this process was given, and how long they live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from toolkit.doctor.durations import in_words
from toolkit.doctor.findings import Finding, failed, ok, skipped, warning
from toolkit.doctor.token_life import TokenLife, token_life
from toolkit.storage.hdfs_tokens import TOKEN_VARIABLE, tokens_here
from toolkit.storage.token_file import HadoopToken

_SOON = timedelta(hours=1)


def token_findings(variables: Mapping[str, str], now: datetime) -> Iterator[Finding]:
    """One finding for each token; what proves it is never shown.

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


def _finding(token: HadoopToken, now: datetime) -> Finding:
    what = f"{token.kind} for {token.service}"
    life = token_life(token.identifier)
    if life is None:
        return ok("its life is not known", what=what)
    found = f"of {life.owner}, issued {_moment(life.issued)}, {_end(life, now)}"
    if life.ends <= now:
        return failed(found, todo="get a new token", what=what)
    if life.ends - now < _SOON:
        return warning(found, todo="get a new token before a long run", what=what)
    return ok(f"{found} if {life.renewer or 'nobody'} renews it", what=what)


def _end(life: TokenLife, now: datetime) -> str:
    if life.ends <= now:
        return f"expired {_moment(life.ends)}, {in_words(now - life.ends)} ago"
    return f"expires {_moment(life.ends)}, in {in_words(life.ends - now)} at the latest"


def _moment(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%MZ")
