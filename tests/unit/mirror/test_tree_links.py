"""Links that somebody puts into the target of a mirror on disks between its listing and the renames."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.mirror.site import copier
from toolkit.el import CanonicalPath
from toolkit.entities.mirror_work import TreeMirror
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.mirror.model import MirrorTargetChanged
from toolkit.mirror.tree_planner import TreePlan, TreePlanner
from toolkit.mirror.tree_run import TreeRun
from toolkit.storage import SymlinkRefused
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.threads import WorkerPool


def _run(directory: Path, refuse: Callable[[TreePlan], None] = lambda _: None) -> None:
    source, target = (CanonicalPath("file", "", str(directory / name)) for name in ("source", "target"))
    system = LocalFileSystem()
    settings = TreeMirror(
        source_cluster="one",
        target_cluster="one",
        source_dir=source.path,
        target_dir=target.path,
        on_source_delete=GoneAtSource.DELETE,
    )
    pool = WorkerPool(1, "look")
    planner = TreePlanner(
        name="manuals", settings=settings, source=source, target=target, stores=lambda _: system, pool=pool
    )
    TreeRun(planner=planner, copy=copier(system, system), refuse=refuse).run()


def _write(path: Path, text: str, time: int = 1_700_000_000) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time, time))


@pytest.mark.parametrize(
    "change",
    [
        lambda source: _write(source / "d/new", "planted"),
        lambda source: _write(source / "d/old", "another text", 1_800_000_000),
        lambda source: (source / "d/old").unlink(),
    ],
    ids=["new", "replaced", "gone"],
)
def test_a_directory_that_becomes_a_link_leads_no_rename_out_of_the_target(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    source, target, victim = tmp_path / "source", tmp_path / "target", tmp_path / "victim"
    _write(source / "d/old", "old")
    _write(source / "d/stays", "stays")
    _run(tmp_path)
    change(source)
    _write(victim / "old", "old")  # as the file in the target, so that it looks like what was listed

    def swap(_: TreePlan) -> None:
        (target / "d").rename(tmp_path / "away")
        (target / "d").symlink_to(victim)

    with pytest.raises((SymlinkRefused, MirrorTargetChanged)):
        _run(tmp_path, swap)
    assert {each.name: each.read_text() for each in victim.iterdir()} == {"old": "old"}
