"""Which known names a wrong name may have meant."""

from bisect import bisect
from collections.abc import Collection
from difflib import SequenceMatcher, get_close_matches


def nearest(name: str, known: Collection[str]) -> tuple[str, ...]:
    """At most three of `known` that look like `name`, the most alike first; letter case does not count."""
    folded = {each.casefold(): each for each in sorted(known)}
    wanted = name.casefold()
    candidates = _neighbours(wanted, sorted(folded)) if len(folded) > _MANY else list(folded)
    close = [(SequenceMatcher(None, each, wanted).ratio(), each) for each in get_close_matches(wanted, candidates, n=3)]
    return tuple(folded[each] for ratio, each in close if ratio > close[0][0] - _MUCH_WORSE)


_MUCH_WORSE = 0.15
_MANY = 1000


def _neighbours(name: str, ordered: list[str]) -> list[str]:
    """The names before and after in the alphabet: comparing thousands of wrong names with thousands takes minutes."""
    place = bisect(ordered, name)
    return ordered[max(0, place - _MANY // 10) : place + _MANY // 10]


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
