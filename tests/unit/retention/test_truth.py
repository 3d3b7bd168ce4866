"""Whatever goes wrong, what is told is what the store shows, and nothing goes that was not planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import share_of
from tests.unit.retention.acting import BASE, Acted, SharedStore, act, capabilities, item, subtree
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.el import CanonicalPath
from toolkit.ledger.vocabulary import ItemState
from toolkit.result import Outcome
from toolkit.retention.plan import PlanItem, Subtree
from toolkit.runs.audit_lines import AuditLine
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import ProcessStop
from toolkit.storage import Capabilities, StorageFailure, Unreachable

_KINDS = [
    capabilities(atomic_delete=atomic, directories=directories, parallel=parallel)
    for atomic, directories in ((True, True), (False, True), (False, False))
    for parallel in (1, 4)
]
_DAYS = [f"2025/{month:02d}/{day:02d}" for month in range(1, 7) for day in range(1, 8)]
_STATES = {Outcome.DONE: ItemState.DONE, Outcome.FAILED: ItemState.FAILED, Outcome.SKIPPED: ItemState.SKIPPED}


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What happens, and when: numbers count calls to the store from the beginning of the acting.

    Attributes:
        store: of which kind.
        planned: the others are there and stay.
        dropped: months that are one unit.
        locked: must not be removed.
        removed: by somebody else, before.
        added: by somebody else, before.
        broken: calls that are not answered; of them, those that take effect all the same.
        silent_from: no call is answered from this one on.
        stopped_at: the run is told to stop.
        held_at: a hold file appears.
        lost_at: the ledger goes away at this record.
    """

    store: Capabilities
    planned: frozenset[str]
    dropped: frozenset[int]
    locked: frozenset[str]
    removed: frozenset[str]
    added: frozenset[str]
    broken: frozenset[int]
    silent_from: int | None
    stopped_at: int | None
    held_at: int | None
    lost_at: int | None


def _some(names: Sequence[str], most: int) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(names), max_size=most)


_AT = st.none() | st.integers(0, 60)
troubles = st.builds(
    Trouble,
    store=st.sampled_from(_KINDS),
    planned=st.frozensets(st.sampled_from(_DAYS), min_size=1),
    dropped=st.frozensets(st.integers(1, 6)),
    locked=_some(_DAYS, 3),
    removed=_some(_DAYS, 3),
    added=_some(["2025/01/README", "2025/02/08/part", "2025/03/x/y", "2025/04/.feedctl-hold", "2024/12/31/part"], 3),
    broken=st.frozensets(st.integers(0, 60), max_size=2),
    silent_from=_AT,
    stopped_at=_AT,
    held_at=_AT,
    lost_at=st.none() | st.integers(1, 3),
)


@dataclass
class Scene:
    """A store in trouble, and what is planned there."""

    trouble: Trouble

    def __post_init__(self) -> None:
        self.items = [item(day) for day in sorted(self.trouble.planned)]
        self.process = ProcessStop()
        self.store = SharedStore(has=self.trouble.store)
        self.store.put(*(f"{BASE.path}/{day}/part" for day in _DAYS))
        for day in self.trouble.removed:
            self.store.files.pop(f"{BASE.path}/{day}/part")
            self.store.directories.discard(f"{BASE.path}/{day}")
        self.store.put(*(f"{BASE.path}/{name}" for name in self.trouble.added))
        self.store.locked = {f"{BASE.path}/{day}" for day in self.trouble.locked}
        self.before = set(self.store.tree())
        self.calls = 0
        self.store.broken = self._call

    @property
    def subtrees(self) -> list[Subtree]:
        """Also months of which something stays: then the plan is wrong, and must be seen to be."""
        months = {name for name, _ in groupby(each.path.parent.name for each in self.items)}
        chosen = sorted(month for month in months if int(month) in self.trouble.dropped)
        return [subtree(self.items, f"2025/{month}") for month in chosen]

    def _call(self, call: str, path: str) -> None:
        number, self.calls = self.calls, self.calls + 1
        if number == self.trouble.stopped_at:
            self.process.stop(Stopped(reason="received SIGTERM"))
        if number == self.trouble.held_at:
            self.store.files[f"{BASE.path}/.feedctl-hold"] = b""
        if self.trouble.silent_from is not None and number >= self.trouble.silent_from:
            raise Unreachable(path=BASE)
        if number in self.trouble.broken:
            self._break(call, path, number)

    def _break(self, call: str, path: str, number: int) -> None:
        """A call that takes effect all the same, or does not; the store says what was wrong, or nothing."""
        if call == "delete" and number % 3 == 0 and self.store.is_there(CanonicalPath.parse(f"file://{path}")):
            MemoryFileSystem.delete(self.store, CanonicalPath.parse(f"file://{path}"), below=BASE)
        if number % 2:
            raise Unreachable(path=BASE)
        raise StorageFailure(path=BASE)

    def act(self) -> Acted:
        recorder = MemoryRecorder(fails_at=self.trouble.lost_at)
        return act(self.store, self.items, self.subtrees, stop_signal=self.process, recorder=recorder)

    def is_there(self, each: PlanItem) -> bool:
        return self.store.is_there(each.path)


@given(troubles)
@settings(max_examples=share_of(300), deadline=None)
def test_what_is_told_is_what_the_store_shows_and_nothing_else_goes(trouble: Trouble) -> None:
    scene = Scene(trouble)
    acted = scene.act()
    _nothing_else_is_gone(scene)
    _each_item_has_one_outcome_and_it_is_true(scene, acted)
    _the_audit_file_has_each_end_once(scene, acted)
    if trouble.lost_at is None:
        _the_ledger_agrees(scene, acted)


def _nothing_else_is_gone(scene: Scene) -> None:
    """Whatever is gone was planned, was in what was planned, or is a directory that nothing is in any more."""
    planned = [each.path.path for each in scene.items]
    now = set(scene.store.tree())
    for path in scene.before - now:
        is_planned = any(path == each or path.startswith(each + "/") for each in planned)
        is_emptied = path not in scene.store.files and not any(each.startswith(path + "/") for each in now)
        was_directory = any(each.startswith(path + "/") for each in planned)
        assert is_planned or (is_emptied and was_directory), path
    assert BASE.path in now


def _each_item_has_one_outcome_and_it_is_true(scene: Scene, acted: Acted) -> None:
    results = [each for each in acted.result.items if each.item.type == "instance"]
    assert [each.item for each in results] == scene.items
    for each in results:
        is_there = scene.is_there(each.item)
        if each.outcome is Outcome.DONE or each.code == "already_gone":
            assert not is_there, each
            assert each.code or each.item.path.relative_to(BASE) not in scene.trouble.removed, each
        elif each.outcome is Outcome.SKIPPED:
            assert is_there or each.item.path.relative_to(BASE) in scene.trouble.removed, each
        else:
            assert each.code in {"permission_denied", "storage_failure", "unreachable", "interrupted"}, each


def _the_audit_file_has_each_end_once(scene: Scene, acted: Acted) -> None:
    """Also what was under way when the ledger was lost, and what is open; each directory that went has a line too."""
    lines = acted.audit.lines
    ends = [line for line in lines if line["what"] == "item" and line["kind"] == "instance:data"]
    batches = {state: _positions(lines, state) for state in ("intended", "skipped")}
    results = {at: each for at, each in enumerate(acted.result.items) if each.item in scene.items}
    assert Counter(line["position"] for line in ends) == Counter(batches["intended"] - batches["skipped"])
    for line in ends:
        result = results[scene.items.index(next(each for each in scene.items if each.uri == line["path"]))]
        assert (line["state"], line["code"] or "") == (_STATES[result.outcome], result.code)
    output = {str(line["path"]) for line in lines if line["what"] == "item" and line["state"] != "skipped"}
    planned = {each.uri for each in scene.items}
    in_items = {path for path in scene.before for each in planned if f"file://{path}".startswith(each)}
    roots = tuple(str(each) for each in (part.root for part in scene.subtrees) if str(each) in output)
    for path in scene.before - set(scene.store.tree()) - in_items:
        assert f"file://{path}" in output or f"file://{path}".startswith(roots), path


def _positions(lines: Sequence[AuditLine], state: str) -> set[int]:
    ranges = [(each["first"], each["last"]) for each in lines if each["what"] == "batch" and each["state"] == state]
    return {at for first, last in ranges for at in range(int(str(first)), int(str(last)) + 1)}


def _the_ledger_agrees(scene: Scene, acted: Acted) -> None:
    recorder = acted.recorder
    intended = Counter(each.position for step in recorder.steps for each in step.intended)
    settled = Counter(each.position for step in recorder.steps for each in step.settled)
    assert set(intended.values()) | set(settled.values()) <= {1}
    assert settled.keys() <= intended.keys()
    results = dict(enumerate(each for each in acted.result.items if each.item.type == "instance"))
    for step in recorder.steps:
        for each in step.settled:
            assert each.state is _STATES[results[each.position].outcome]
            assert (each.code or "") == results[each.position].code
    for position in intended.keys() - settled.keys():
        assert results[position].code in {"unreachable", "interrupted"}, results[position]
    for position in settled:
        assert "may still happen" not in results[position].message
    for position in results.keys() - intended.keys():
        assert results[position].code == "stopped"
    output = Counter(acted.evicted)
    assert set(output.values()) <= {1}
    done = {each.item.instance_key for at, each in results.items() if each.outcome is Outcome.DONE and at in settled}
    assert done <= output.keys()
    assert all(not scene.is_there(each) for each in scene.items if each.instance_key in output)


def test_the_scene_can_show_trouble() -> None:
    """The property is worth nothing when all goes well every time."""
    plain = Trouble(
        store=_KINDS[0], planned=frozenset(_DAYS), dropped=frozenset({1, 2}), locked=frozenset({_DAYS[0]}),
        removed=frozenset({_DAYS[9]}), added=frozenset({"2025/02/08/part"}), broken=frozenset(), silent_from=None,
        stopped_at=None, held_at=None, lost_at=None,
    )  # fmt: skip
    acted = Scene(plain).act()
    assert {each[1:] for each in acted.outcomes} == {
        ("done", ""), ("failed", "permission_denied"), ("skipped", "already_gone")
    }  # fmt: skip
    assert len(acted.result.plan.notes) == 2
    assert CanonicalPath.parse(f"{BASE}/2025/02/08") not in {each.item.path for each in acted.result.items}
