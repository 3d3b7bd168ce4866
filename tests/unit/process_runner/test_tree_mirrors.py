"""Mirrors that compare both sides as steps of processes, on two HDFS in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.unit.actions.fake_action import context
from tests.unit.mirror.memory_hdfs import MemoryHdfs
from tests.unit.mirror.site import SOURCE, TARGET
from toolkit.actions.action import RunContext
from toolkit.actions.model import TargetPlan
from toolkit.el import CanonicalPath
from toolkit.entities import Engine
from toolkit.entities.mirror_work import MirrorSettings, TreeMirror
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.errors import StopRequested
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.process_runner.mirrors import MirrorEngine, MirrorRemovesTooMuch, Mirrors
from toolkit.process_runner.targets import ProcessDetail, ProcessPlan, StepItem
from toolkit.process_runner.tree_mirrors import TreeMirrors
from toolkit.programs.port import StepEnd
from toolkit.rendering.mirror_plan import mirror_document, mirror_lines
from toolkit.transfer.trees import below

_MIRROR = TreeMirror(
    source_cluster="one",
    target_cluster="two",
    source_dir=SOURCE.path,
    target_dir=TARGET.path,
    on_source_delete=GoneAtSource.DELETE,
)


_NOTHING = dict.fromkeys(("COPY", "BYTESCOPIED", "COPYREUSED", "BYTESREUSED", "DELETES"), 0)


@dataclass
class _Run:
    """Runs of the mirror `manuals` between two HDFS."""

    limits: DeleteLimits = field(default_factory=DeleteLimits)
    mirror: TreeMirror = _MIRROR
    stores: dict[str, MemoryHdfs] = field(default_factory=lambda: {"one": MemoryHdfs(), "two": MemoryHdfs()})

    def work(self) -> RunContext:
        stop = cast("Any", SimpleNamespace(check=lambda: None, check_without_rest=lambda: None))
        return replace(context(stop), stores=lambda path: self.stores[path.authority])

    def mirrors(self, *, is_dry_run: bool = False) -> Mirrors:
        def cluster(name: str) -> Any:  # noqa: ANN401 - stands for a cluster
            return SimpleNamespace(name=name, place=lambda text: CanonicalPath("hdfs", name, text))

        return Mirrors(
            actions={"hdfs": lambda: TreeMirrors(cluster=cluster, limits=self.limits, is_dry_run=is_dry_run)}
        )

    def plan(self) -> ProcessPlan:
        process = SimpleNamespace(workflow=SimpleNamespace(mirror=MirrorSettings(hdfs=self.mirror)))
        key = "2026-03-01T00:00Z"
        target = cast("Any", SimpleNamespace(entity="manuals", instance_key=key, site=SimpleNamespace(process=process)))
        item = StepItem(name="main", engine=Engine.MIRROR, path="", instance_key=key)
        return TargetPlan(target=target, detail=ProcessDetail(), items=(item,))

    def planned(self, *, is_dry_run: bool = False) -> ProcessPlan:
        return self.mirrors(is_dry_run=is_dry_run).planned(self.plan(), self.work())

    def run(self) -> tuple[StepEnd, dict[str, int]]:
        plan = self.plan()
        engine = MirrorEngine(mirrors=self.mirrors(), plan=plan, work=self.work())
        end = engine.run(cast("Any", SimpleNamespace(log=Path("/dev/null"))), lambda _: None, lambda: None)
        return end, {name: value for name, value in plan.detail.counters.items() if name != "TIMETAKEN"}


@pytest.fixture
def ran() -> _Run:
    """A mirror that has run, and its source changed."""
    found = _Run()
    one = found.stores["one"]
    for name in ("a/f", "a/g", "deep/in/h", "stays"):
        one.mkdirs(below(SOURCE, name).parent)
        one.write(below(SOURCE, name), [name.encode()])
    assert found.run() == (StepEnd(exit_code=0), _NOTHING | {"COPY": 4, "BYTESCOPIED": 20})
    one.delete(below(SOURCE, "a"), below=SOURCE)
    one.append(below(SOURCE, "stays"), b" longer")
    one.mkdirs(below(SOURCE, "new"))
    one.write(below(SOURCE, "new/x"), [b"fresh"])
    return found


def test_a_dry_run_shows_the_changes_and_makes_none(ran: _Run) -> None:
    before = ran.stores["two"].tree(TARGET)
    plan = ran.planned(is_dry_run=True)
    assert plan.detail.mirror is not None
    assert list(mirror_lines(plan.detail.mirror)) == [
        "mirror: 4 changes of hdfs://two/dst/data, 17 bytes to copy",
        "copy new/x (5 bytes)",
        "replace stays (12 bytes)",
        "mkdir new",
        "remove a",
    ]
    actions = cast("list[dict[str, object]]", mirror_document(plan.detail.mirror)["actions"])
    assert actions[0] == {"action": "copy", "path": "new/x", "origin": None, "bytes": 5}
    assert ran.stores["two"].tree(TARGET) == before
    assert (ran.planned().detail.mirror, ran.planned().failed) == (None, None)
    assert ran.run()[1] == _NOTHING | {"COPY": 2, "BYTESCOPIED": 17, "DELETES": 1}


def test_the_rerun_of_a_killed_run_counts_what_it_copied_and_apart_what_it_found(ran: _Run) -> None:
    two = ran.stores["two"]

    def killed(what: str) -> None:
        if what.startswith("rename "):
            raise StopRequested(what)

    two.before_effect = killed
    with pytest.raises(StopRequested):
        ran.run()
    two.before_effect = lambda _: None
    ran.stores["one"].write(below(SOURCE, "later"), [b"later"])
    counted = {"COPY": 1, "BYTESCOPIED": 5, "COPYREUSED": 2, "BYTESREUSED": 17, "DELETES": 1}
    assert ran.run()[1] == counted


def test_a_run_that_removes_too_much_is_refused_before_the_target_changes(ran: _Run) -> None:
    before = ran.stores["two"].tree(TARGET)
    for limits in (DeleteLimits(instances=2), DeleteLimits(bytes=5), DeleteLimits(fraction=0.4)):
        ran.limits = limits
        refused = ran.planned(is_dry_run=True).refused
        assert refused is not None
        assert "would remove 3 of 7 files and directories (6 bytes), and max_delete." in refused.message
        with pytest.raises(MirrorRemovesTooMuch):
            ran.run()
    assert ran.stores["two"].tree(TARGET) == before
    ran.limits = DeleteLimits(instances=3, bytes=6, fraction=0.5)
    assert ran.run()[0].succeeded


def test_a_mirror_that_can_never_run_and_an_empty_source_fail_the_plan(ran: _Run) -> None:
    ran.stores["one"].delete(SOURCE, below=SOURCE.parent)
    plan = ran.planned(is_dry_run=True)
    assert plan.failed is not None
    assert (plan.failed.code, plan.items) == ("source_empty", ())
    ran.mirror = replace(_MIRROR, target_cluster="one", target_dir=f"{SOURCE.path}/inside")
    plan = ran.planned()
    assert plan.failed is not None
    assert (plan.failed.code, plan.items) == ("mirror_overlaps", ())
