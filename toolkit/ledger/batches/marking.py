"""Batch markings: the dates of the data in a batch, as text (BDRE, InitJob: target batch marking)."""

from __future__ import annotations

from collections.abc import Iterable


def tokens(marking: str | None) -> frozenset[str]:
    """The dates of a marking, which is split at commas; none for an empty one."""
    return frozenset(filter(None, (each.strip() for each in (marking or "").split(","))))


def joined(markings: Iterable[str | None]) -> str | None:
    """One marking for several: each date once, sorted as text; None when there is none."""
    dates = {token for marking in markings for token in tokens(marking)}
    return ",".join(sorted(dates)) or None


def batch_date(token: str) -> str:
    """The date itself: what stands after the last ``@``, where a token has one, as in ``sales@2026-03-01``."""
    return token.rpartition("@")[2].strip()
