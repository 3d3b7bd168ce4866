"""Several outputs of a process that are judged: all of them are published, each as it was judged, or none is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.unit.actions.fake_action import context
from tests.unit.actions.fake_validator import FakeValidator
from tests.unit.planning.entities import cluster, path_feed, process
from toolkit.actions.validation import QUALITY_UNKNOWN, Publishable, Written
from toolkit.el import parse_instant
from toolkit.entities import Output
from toolkit.entities.quality import Quality
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.output_effects import OutputEffects
from toolkit.process_runner.staging import StagedOutputs
from toolkit.runs.stop import NeverStopped
from toolkit.storage.local.file_system import LocalFileSystem

NOON = parse_instant("2026-03-01T12:00Z")


@dataclass
class SlowValidator(FakeValidator):
    """While the second output is judged, somebody does something."""

    meanwhile: Callable[[], None] = lambda: None

    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        if self.validated:
            self.meanwhile()
        return super().validate(written, check)


def outputs(root: Path, validator: FakeValidator) -> StagedOutputs:
    """The outputs `a` and `b` of an instance, which wait at the gate."""
    feeds = {
        name: replace(
            path_feed(name, f"{root}/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"),
            quality=Quality(suites=("clicks",)),
        )
        for name in "ab"
    }
    made = process({}, {name: Output(feed=name, instance="now(0,0)") for name in "ab"})
    site = ProcessSite(process=made, cluster=cluster(), feeds=feeds)
    for name in "ab":
        waiting(root, name).mkdir(parents=True)
        (waiting(root, name) / "part-0").write_text("good")
    disk = LocalFileSystem()
    work = replace(context(NeverStopped()), stores=lambda _: disk, run_name="7", validator=validator)
    return StagedOutputs(
        site=site,
        outputs=site.outputs(NOON),
        work=work,
        check=lambda: None,
        now=lambda: NOON,
        effects=OutputEffects(position=0, instance_key=""),
    )


def waiting(root: Path, name: str) -> Path:
    """Return the staging place of an output."""
    return root / name / ".feedctl-staging/2026-03-01-12"


def test_all_are_published(tmp_path: Path) -> None:
    passed = outputs(tmp_path, FakeValidator()).publish(has_run=True)
    assert ([each.name for each in passed.outputs], passed.blocked) == (["a", "b"], ())
    assert (tmp_path / "a/2026-03-01-12/part-0").exists()
    assert (tmp_path / "b/2026-03-01-12/part-0").exists()


def test_an_output_that_changes_while_another_is_judged_is_not_published_and_neither_is_that(tmp_path: Path) -> None:
    def meanwhile() -> None:
        (waiting(tmp_path, "a") / "part-1").write_text("bad")

    made = outputs(tmp_path, SlowValidator(meanwhile=meanwhile))
    (blocked,) = made.publish(has_run=True).blocked
    assert blocked.code == QUALITY_UNKNOWN
    assert "changed after it was validated" in str(blocked)
    assert not (tmp_path / "a/2026-03-01-12").exists()
    assert not (tmp_path / "b/2026-03-01-12").exists()
    (blocked,) = made.publish(has_run=True).blocked
    assert "it is bad" in str(blocked)


def test_one_that_is_blocked_keeps_the_others_back(tmp_path: Path) -> None:
    made = outputs(tmp_path, FakeValidator())
    (waiting(tmp_path, "b") / "part-0").write_text("bad")
    assert [each.why for each in made.publish(has_run=True).blocked] == ["it is bad"]
    assert not (tmp_path / "a/2026-03-01-12").exists()
