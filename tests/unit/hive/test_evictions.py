"""An import while retention removes something."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.unit.hive.test_table_import import NAMES, Life, Scene
from tests.unit.retention.test_writers import RUN
from toolkit.ledger.runs.outputs import OpenEviction
from toolkit.runs.output_use import OutputUse


@dataclass(frozen=True, kw_only=True)
class Evicting(OutputUse):
    """Open evictions, and the reads of them."""

    paths: tuple[str, ...]
    reads: list[int] = field(default_factory=list)

    def evictions(self) -> list[OpenEviction]:
        self.reads.append(1)
        return [OpenEviction(path=each, run=RUN) for each in self.paths]


@pytest.mark.parametrize(
    ("path", "waits"),
    [
        (f"catalog:dst:clicks#{NAMES[1]}", True),
        ("catalog:dst:views#ds=2026-03-01/region=in", False),
        ("file:ROOT/to/dst.db/clicks/ds=2026-03-01", True),
        ("file:ROOT/to/dst.db/views/ds=2026-03-01", False),
    ],
)
def test_a_plan_reads_the_open_evictions_once_for_all_partitions(path: str, tmp_path: Path, *, waits: bool) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    (tmp_path / "to/dst.db/clicks/ds=2026-01-01").mkdir(parents=True)
    outputs = Evicting(paths=(path.replace("ROOT", str(tmp_path)), "catalog:other:table#ds=1"))
    action, target = scene.action()
    plan = action.plan(target, replace(scene.work(Life()), outputs=outputs))
    assert (plan.waiting is not None) is waits
    assert len(outputs.reads) == 1
