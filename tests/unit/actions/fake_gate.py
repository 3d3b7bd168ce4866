"""A gate in memory: it judges what lies where it is told by the bytes, and remembers every question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.actions.gate import Admitted, QualityFailed, Written


@dataclass
class FakeGate:
    """Blocks data with a word in them, unless these were released.

    Attributes:
        bad: the word.
        released: the names and times of released data, see `print_of`.
        asked: the units, in the order of the questions.
        judged: of them those that were read, since nobody knew them.
    """

    bad: str = "bad"
    released: set[tuple[object, ...]] = field(default_factory=set)
    asked: list[Written] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)
    known: dict[tuple[object, ...], bool] = field(default_factory=dict)

    def admit(self, written: Written, check: Callable[[], None]) -> Admitted:
        check()
        self.asked.append(written)
        found = print_of(written)
        if found not in self.known:
            self.judged.append(written.unit)
            self.known[found] = not any(self.bad in each.read_text() for each in _files(written))
        if not self.was_admitted(written):
            raise QualityFailed(unit=written.unit, why=f"{self.bad} is in it")
        return Admitted(digest="", notes=("admitted",))

    def was_admitted(self, written: Written) -> bool:
        found = print_of(written)
        return found in self.released or self.known.get(found, False)

    def release(self) -> None:
        """A person wants what was asked for last to be announced."""
        self.released.add(print_of(self.asked[-1]))


def print_of(written: Written) -> tuple[object, ...]:
    """What tells data from other data, wherever they were moved to."""
    return (written.unit, *((each.name, each.stat().st_mtime_ns) for each in _files(written)))


def _files(written: Written) -> list[Path]:
    found = (each for part in written.parts for each in Path(part.place.path).rglob("*"))
    return sorted(each for each in found if each.is_file() and not each.name.startswith((".", "_")))
