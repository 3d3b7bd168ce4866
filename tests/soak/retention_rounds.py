"""One round of the fuzzer: a random feed on a random tree, looked at, evicted undisturbed or with deaths, compared."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace

from tests.soak.layouts import Layout
from tests.soak.places import Kind, Place, Tree
from tests.soak.random_trees import RandomTree, changes_of_clocks
from tests.soak.retention_deaths import Death, Killed, Moment, MortalOpening
from tests.soak.retention_feed import run
from tests.soak.retention_oracle import Case
from tests.unit.runs.fakes import MemoryRecorder, left_item
from toolkit.ledger.runs.items import NewItem
from toolkit.result import Outcome, Status
from toolkit.retention import RetentionResult
from toolkit.retention.plan import ItemKind
from toolkit.runs.recorder import RecordBatch, RecordedRun, SettledLeftOver
from toolkit.runs.stop import NeverStopped


@dataclass
class MortalRecorder(MemoryRecorder):
    """A ledger whose run may die: what it intended stays open for the next one.

    Attributes:
        death: of the run that writes.
        open: what it intended and did not settle.
    """

    death: Death | None = None
    open: dict[int, NewItem] = field(default_factory=dict)

    def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
        with self._mortal():
            super().record(run, step, is_repeated=is_repeated)
            for each in step.settled:
                del self.open[each.position]
            self.open.update((each.position, each) for each in step.intended)

    def settle_left_over(self, items: Sequence[SettledLeftOver]) -> bool:
        with self._mortal():
            settled = {(each.left.run_id, each.left.position) for each in items}
            self.left = [each for each in self.left if (each.run_id, each.position) not in settled]
            reported = set(
                self.reported()
            )  # as the ledger does: nothing is evicted twice here, so nothing is told twice
            is_new = [each.event is None or each.event.instance_key not in reported for each in items]
            return super().settle_left_over(
                [each if new else replace(each, event=None) for each, new in zip(items, is_new, strict=True)]
            )

    @contextmanager
    def _mortal(self) -> Iterator[None]:
        if self.death is not None:
            self.death.at(Moment.RECORD)
        yield
        if self.death is not None:
            self.death.at(Moment.RECORD)

    def die(self) -> None:
        for each in self.open.values():
            self.left.append(left_item(each, run_id=len(self.runs)))
        self.open, self.death = {}, None

    def reported(self) -> list[str]:
        late = [each.event for each in self.settled_left if each.event is not None]
        return [event.instance_key for event in (*self.events(), *late)]


@dataclass(kw_only=True)
class Covered:
    """Counts of rounds by what happened in them, so that a fuzzer that no longer meets something is noticed.

    Attributes:
        rounds: all of them.
        evictions: rounds in which something went.
        undisturbed: rounds without a death; the others were killed twice and stopped once.
        nested: rounds with several variables before the end of the date, in which something went.
        left_empty: rounds in which a killed run left a directory without a date that it had emptied.
        subtrees: rounds in which whole directories were planned to go.
        spared: rounds in which something stayed in a directory that something else went from.
        empties: rounds with an empty directory that had to go.
        unrecognized: rounds in which the product counted names that do not conform.
        links: rounds with a symbolic link.
        clocks: rounds with an instance in the six hours around a change of clocks that went.
        held: rounds in which a hold kept something.
        hold_files: rounds with a hold file, which keeps everything.
        kept_last: rounds in which `keep_last` kept something.
        late: rounds in which the late window kept something.
        stats: rounds with two locations.
    """

    rounds: int = 0
    evictions: int = 0
    undisturbed: int = 0
    nested: int = 0
    left_empty: int = 0
    subtrees: int = 0
    spared: int = 0
    empties: int = 0
    unrecognized: int = 0
    links: int = 0
    clocks: int = 0
    held: int = 0
    hold_files: int = 0
    kept_last: int = 0
    late: int = 0
    stats: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{each.name} {getattr(self, each.name)}" for each in fields(self))


@dataclass(frozen=True, kw_only=True)
class Round:
    """A feed and its tree, in an empty place of its own.

    Attributes:
        before: the tree that was drawn.
        there: the same as the place shows it.
    """

    case: Case
    place: Place
    chance: random.Random
    before: Tree
    there: Tree

    @classmethod
    def draw(cls, seed: int, place: Place) -> Round:
        """The round of a seed; the tree is made."""
        chance = random.Random(seed)  # noqa: S311 - a repeatable test, no secret
        case = Case.draw(chance)
        before = RandomTree(case=case, chance=chance, has_links=place.has_links).grown()
        place.build(before)
        there = place.tree()
        assert not place.has_directories or differences(there, before) == []
        return cls(case=case, place=place, chance=chance, before=before, there=there)

    def check(self, covered: Covered) -> None:
        """Evict, and compare with the oracle at each point."""
        evicted, empty, expected = self.case.evicted(self.before), self._empty, self.expected
        planned = self._preview(evicted.keys(), empty.keys(), expected)
        recorder = MortalRecorder(left_entity="fuzzed")
        is_undisturbed = self.chance.random() < 1 / 3
        if not is_undisturbed:
            self._disturb(recorder)
            left = self.place.tree()
            assert expected.items() <= self._without_asides(left).items()
        done = run(self.case, self.place, NeverStopped(), recorder)
        assert done.status is Status.SUCCEEDED, [each for each in done.items if each.outcome is Outcome.FAILED]
        left = self.place.tree()
        left_empty = set() if is_undisturbed else self.case.left_empty(self.before, left.keys() - expected.keys())
        assert differences({path: left[path] for path in left if path not in left_empty}, expected) == []
        if is_undisturbed:
            assert self.paths(done, Outcome.DONE) == evicted.keys()
            assert left == expected
        self._check_second_run(recorder)
        keys = {
            each.item.instance_key for each in planned.items if each.item.instance_key and each.item.location == "data"
        }
        assert Counter(recorder.reported()) == Counter(keys)
        covered.left_empty += bool(left_empty)
        self._count(covered, planned, expected, is_undisturbed=is_undisturbed)

    @property
    def _empty(self) -> dict[str, Layout]:
        return self.case.empty(self.before) if self.place.has_directories else {}

    @property
    def expected(self) -> Tree:
        if self.place.has_directories:
            return self.case.expected(self.before)
        return self.case.expected_keys(self.before, self.there)

    def _preview(self, evicted: object, empty: object, expected: Tree) -> RetentionResult:
        planned = run(self.case, self.place, NeverStopped(), dry_run=True)
        assert differences(self.place.tree(), self.there) == []
        assert self.paths(planned, Outcome.PLANNED) == evicted
        assert self.paths(planned, Outcome.PLANNED, ItemKind.EMPTY_DIRECTORY) == empty
        assert len([*planned.items]) == len(self.case.evicted(self.before)) + len(self._empty)
        for root in self._roots(planned):
            assert not [path for path in expected if f"{path}/".startswith(f"{root}/")], f"{root} must not go whole"
        return planned

    def _check_second_run(self, recorder: MortalRecorder) -> None:
        reported, tree = recorder.reported(), self.place.tree()
        again = run(self.case, self.place, NeverStopped(), recorder)
        assert (again.status, [*again.items]) == (Status.SUCCEEDED, [])
        assert (recorder.reported(), differences(self.place.tree(), tree)) == (reported, [])

    def _disturb(self, recorder: MortalRecorder) -> None:
        self._kill_somewhere(recorder)
        stop = Death.by_stop(self.chance)
        stopped = run(self.case, self.place, stop, recorder, opening=MortalOpening(death=stop))
        assert stopped.status in {Status.KILLED, Status.SUCCEEDED}
        recorder.die()
        self._kill_somewhere(recorder)

    def _kill_somewhere(self, recorder: MortalRecorder) -> None:
        recorder.death = death = Death.draw(self.chance)
        try:
            run(self.case, self.place, death, recorder, opening=MortalOpening(death=death))
        except Killed:
            pass
        finally:
            recorder.die()

    def paths(self, result: RetentionResult, outcome: Outcome, kind: ItemKind = ItemKind.INSTANCE) -> set[str]:
        chosen = (each.item for each in result.items if each.outcome is outcome and each.item.type is kind)
        return {self._name(item.path.path) for item in chosen}

    def _roots(self, result: RetentionResult) -> list[str]:
        return [self._name(each.root.path) for feed in result.targets for each in feed.plan.detail.subtrees]

    def _name(self, path: str) -> str:
        root = f"/{self.place.endpoint.partition('://')[2].partition('/')[2]}".rstrip("/")
        assert path.startswith(f"{root}/")
        return path.removeprefix(root)

    @staticmethod
    def _without_asides(tree: Tree) -> Tree:
        return {path: kind for path, kind in tree.items() if "/.feedctl-evicting-" not in path}

    def _count(self, covered: Covered, planned: RetentionResult, expected: Tree, *, is_undisturbed: bool) -> None:
        evicted = self.case.evicted(self.before)
        reasons = {kept.reason.value for feed in planned.targets for kept in feed.plan.detail.kept}
        instants = {each for path, layout in evicted.items() for each in layout.instants(path, self.case.zone)}
        met = {
            "rounds": True,
            "evictions": bool(evicted),
            "undisturbed": is_undisturbed,
            "nested": bool(evicted) and len(self.case.layouts[0].values_at) > 1,
            "subtrees": bool(self._roots(planned)),
            "spared": _share_a_directory(evicted, expected),
            "empties": bool(self._empty),
            "unrecognized": any(feed.plan.detail.unrecognized.count for feed in planned.targets),
            "links": Kind.LINK in self.before.values(),
            "clocks": bool(instants & set(changes_of_clocks(self.case.zone))),
            "held": "hold" in reasons,
            "hold_files": self.case.is_held(self.before),
            "kept_last": "keep_last" in reasons,
            "late": "late_window" in reasons,
            "stats": len(self.case.layouts) > 1,
        }
        for name, is_met in met.items():
            setattr(covered, name, getattr(covered, name) + is_met)


def _share_a_directory(gone: Iterable[str], left: Tree) -> bool:
    parents = {path.rpartition("/")[0] for path in gone}
    return any(path.rstrip("/").rpartition("/")[0] in parents for path in left)


def differences(found: Tree, wanted: Tree) -> list[str]:
    """Return what is there and should not be, and the reverse: short enough to be read."""
    more = [f"unexpected: {path!r}" for path in sorted(found) if found[path] is not wanted.get(path)]
    return more + [f"missing: {path!r}" for path in sorted(wanted) if path not in found]
