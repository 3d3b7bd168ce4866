"""Which rules a run is about: `--select` and `--ignore`, by identifier or glob."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolkit.entities.nearest import suggestion
from toolkit.errors import InvalidInput


class UnknownRule(InvalidInput):
    """A selection that no rule matches.

    Args:
        option: where it was given, for example ``--select``.
        pattern: what was given.
        known: the identifiers of all rules.
    """

    def __init__(self, *, option: str, pattern: str, known: Collection[str]) -> None:
        self.option, self.pattern, self.known = option, pattern, known
        near = suggestion(pattern, known)
        advice = near or "docs/reference/rules.md has them all"
        super().__init__(f"{option}: found {pattern!r}, expected the identifier of a rule, or a glob of them; {advice}")


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleSelection:
    """The rules of a run.

    Args:
        select: identifiers or globs; empty: all.
        ignore: identifiers or globs; they win over `select`.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def chosen(self, known: Collection[str]) -> frozenset[str]:
        """The identifiers of the chosen rules.

        Raises:
            UnknownRule: a pattern matches no rule.
        """
        selected = frozenset(known) if not self.select else _matching("--select", self.select, known)
        return selected - _matching("--ignore", self.ignore, known)


def _matching(option: str, patterns: Collection[str], known: Collection[str]) -> frozenset[str]:
    found: set[str] = set()
    for pattern in patterns:
        matching = {each for each in known if fnmatchcase(each, pattern)}
        if not matching:
            raise UnknownRule(option=option, pattern=pattern, known=known)
        found |= matching
    return frozenset(found)
