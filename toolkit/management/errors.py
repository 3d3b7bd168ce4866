"""Why a question about instances, or a command to them, cannot be met.

InvalidInput
├── NoState             an entity of a kind that has no instances and no state of its own
├── NoSuchLifeCycle     a life cycle that the entity does not have
├── EndWithoutStart     a range without its beginning
├── EmptyRange          a range whose end is not after its start
├── OutsideValidity     a range that does not lie within the validity
└── NotRecorded         one run that was asked for, and the ledger knows none
Refused
└── AdminsOnly          a user who may not switch safe mode
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolkit.entities import Validity
from toolkit.errors import InvalidInput, Refused
from toolkit.ledger.vocabulary import LifeCycle


class NoState(InvalidInput):
    """An entity of a kind that is neither suspended nor run.

    Args:
        name: the entity.
        kind: its kind.
    """

    code = "no_state"

    def __init__(self, *, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        super().__init__(f"{name} is a {kind} and has no runs; give the name of a feed or a process")


class NoSuchLifeCycle(InvalidInput):
    """An entity has no runs of a life cycle.

    Args:
        name: the entity.
        life_cycle: as asked for, or by default.
        clusters: that were looked at.
        known: the life cycles that it has there.
    """

    code = "no_such_life_cycle"

    def __init__(
        self, *, name: str, life_cycle: LifeCycle, clusters: Iterable[str], known: Iterable[LifeCycle]
    ) -> None:
        self.name, self.life_cycle, self.clusters, self.known = name, life_cycle, tuple(clusters), tuple(known)
        where = f" on {', '.join(self.clusters)}" if self.clusters else ""
        todo = " or ".join(f"--life-cycle {each}" for each in self.known) or "its file says what is done with it"
        super().__init__(f"{name} has no {life_cycle}{where}; {'give ' if self.known else ''}{todo}")


class EndWithoutStart(InvalidInput):
    """`--end` without `--start` (Falcon overview, Instance Management: the end needs a start)."""

    code = "end_without_start"

    def __init__(self) -> None:
        super().__init__("found --end alone, expected --start with it: a range is [start, end)")


class EmptyRange(InvalidInput):
    """A range without a single instant.

    Args:
        start: inclusive.
        end: exclusive, and not after the start.
    """

    code = "empty_range"

    def __init__(self, *, start: str, end: str) -> None:
        self.start, self.end = start, end
        super().__init__(f"--end {end} is not after --start {start}; the end is the first instant that is left out")


class OutsideValidity(InvalidInput):
    """A range that lies within the validity on no cluster.

    Args:
        name: the entity.
        requested: the range, as text.
        validities: by cluster.
    """

    code = "outside_validity"

    def __init__(self, *, name: str, requested: str, validities: Mapping[str, Validity]) -> None:
        self.name, self.requested, self.validities = name, requested, dict(validities)
        known = "; ".join(f"{cluster}: {each}" for cluster, each in validities.items())
        super().__init__(f"{requested} does not lie within the validity of {name} ({known}); give a range within it")


class NotRecorded(InvalidInput):
    """Error for a nominal time without a run.

    Args:
        name: the entity.
        life_cycle: of the run.
        key: the nominal time.
        clusters: that were looked at.
    """

    code = "not_recorded"

    def __init__(self, *, name: str, life_cycle: LifeCycle, key: str, clusters: Iterable[str]) -> None:
        self.name, self.life_cycle, self.key, self.clusters = name, life_cycle, key, tuple(clusters)
        where = ", ".join(self.clusters)
        todo = f"`feedctl instance list {name} --life-cycle {life_cycle}` lists those that there are"
        super().__init__(f"no {life_cycle} of {name} on {where} is recorded for {key}; {todo}")


class AdminsOnly(Refused):
    """A user who is not among the `admins` of repo.yaml called a command of theirs.

    Args:
        who: the user.
        admins: those who may.
    """

    code = "admins_only"

    def __init__(self, *, who: str, admins: Iterable[str]) -> None:
        self.who, self.admins = who, tuple(admins)
        found = f"{who} may not switch safe mode; `admins` in repo.yaml are {', '.join(self.admins)}"
        super().__init__(f"{found}; ask one of them")
