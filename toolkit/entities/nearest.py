"""Suggestions of known names for a wrong name."""

from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache

_CUTOFF = 0.6
_MUCH_WORSE = 0.15
_MANY = 1000
_BITS = 64


def nearest(name: str, known: Collection[str]) -> tuple[str, ...]:
    """At most three of `known` that look like `name`, the most alike first; letter case does not count."""
    names, wanted = _names(frozenset(known)), name.casefold()
    candidates = names.like(wanted)
    close = [
        (SequenceMatcher(None, each, wanted).ratio(), each)
        for each in get_close_matches(wanted, candidates, n=3, cutoff=_CUTOFF)
    ]
    return tuple(names.folded[each] for ratio, each in close if ratio > close[0][0] - _MUCH_WORSE)


@dataclass(frozen=True, slots=True)
class _Names:
    """Names that are known, prepared for thousands of wrong ones.

    Attributes:
        folded: the names by themselves in lower case.
        ordered: the keys of `folded`, sorted.
    """

    folded: Mapping[str, str]
    ordered: Sequence[str]

    def like(self, name: str) -> list[str]:
        """Return the names that may be alike, by what they have in common with a name at most.

        Of thousands of names those before and after in the alphabet are compared.
        """
        first, last = 0, len(self.ordered)
        if last > _MANY:
            place = bisect(self.ordered, name)
            first, last = max(0, place - _MANY // 10), place + _MANY // 10
        return [each for each in self.ordered[first:last] if may_be_alike(name, each, _CUTOFF)]


def may_be_alike(one: str, other: str, ratio: float) -> bool:
    """Return whether the `SequenceMatcher.ratio` of two names can reach a limit; 50 times faster than the ratio."""
    mine, theirs = _letters(one), _letters(other)
    shared = min(len(one) - (mine & ~theirs).bit_count(), len(other) - (theirs & ~mine).bit_count())
    return 2 * shared >= ratio * (len(one) + len(other))


@lru_cache(maxsize=64)
def _names(known: frozenset[str]) -> _Names:
    folded = {each.casefold(): each for each in sorted(known)}
    ordered = sorted(folded)
    return _Names(folded, ordered)


@lru_cache(maxsize=1 << 14)
def _letters(name: str) -> int:
    """Return which letters a name has, as bits; letters may share a bit."""
    found = 0
    for each in set(name):
        found |= 1 << (ord(each) % _BITS)
    return found


def did_you_mean(name: str, known: Collection[str]) -> str:
    """A question that offers the nearest names, or nothing."""
    close = nearest(name, known)
    return f"did you mean {_joined(close)}?" if close else ""


def suggestion(name: str, known: Collection[str]) -> str:
    """A sentence that offers the nearest names, or all of them when they are few, or nothing."""
    close = did_you_mean(name, known)
    if close:
        return close
    if 0 < len(known) <= _FEW:
        return f"known: {', '.join(sorted(known))}"
    return ""


_FEW = 12


def _joined(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
