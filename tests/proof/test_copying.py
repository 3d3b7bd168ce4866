"""The kernel carries another action than retention: plan, approve, apply, be killed, recover, result, ledger."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.e2e.retention_process import Repo
from tests.e2e.retention_runs import looking_into, sqlite_url
from tests.proof import copying
from tests.proof.copying import CopyOptions, execute
from tests.short_leases import short_leases
from toolkit.ledger import events
from toolkit.ledger.runs import items, queries
from toolkit.ledger.runs.queries import RunFilter
from toolkit.ledger.vocabulary import ItemState, RunStatus
from toolkit.rendering.tables import ResultFormat
from toolkit.result import ExitCode
from toolkit.storage import STAGING_PREFIX

FEED = """\
kind: feed
name: {name}
frequency: days(1)
locations: {{data: "/{name}/${{YEAR}}/${{MONTH}}-${{DAY}}"}}
clusters:
  - {{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}, retention: {{limit: days(90)}}}}
"""
LIMIT = 4 << 20
DIES = f"""
import resource, runpy, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}))
runpy.run_module("tests.proof.copying", run_name="__main__")
"""
"""The kernel ends the process at once when a file becomes larger than that."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A feed with daily instances, and where its copies go."""

    repo: Repo
    into: Path
    capsys: pytest.CaptureFixture[str]

    def fill(self, *days: int, size: int = 10, feed: str = "clicks") -> None:
        for day in days:
            directory = self.repo.data / feed / "2026" / f"03-{day:02d}"
            (directory / "part").mkdir(parents=True)
            (directory / "a").write_bytes(b"a" * 10)
            (directory / "part" / "b").write_bytes(b"b" * size)

    def run(self, day: int = 3, most: int = 100, **requested: object) -> tuple[int, dict[str, object]]:
        """Exit code and result."""
        code = execute(str(self.repo.path), f"2026-03-{day:02d}T00:00Z", self.own(most), **requested)  # type: ignore[arg-type]
        return code, json.loads(self.capsys.readouterr().out)

    def own(self, most: int = 100) -> CopyOptions:
        return CopyOptions(into=self.into.as_uri(), most=most)

    def copied(self, feed: str = "clicks") -> list[str]:
        """Return all that is there, what feedctl has of its own as well."""
        folder = self.into / feed
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())

    def ledger(self) -> tuple[list[RunStatus], list[tuple[str, ItemState, str | None]], list[str]]:
        """Runs, items, and the instances that are told to be there."""
        with looking_into(sqlite_url(self.repo)) as ledger:
            runs = ledger.read(lambda tx: queries.find(tx, RunFilter(entity="clicks", all_attempts=True)))
            runs.sort(key=lambda run: run.run_id)
            left = [each for run in runs for each in ledger.read(partial(items.of_run, run_id=run.run_id))]
            reported = [each.instance_key[:10] for each in ledger.read(lambda tx: events.after(tx, 0))]
        return (
            [run.status for run in runs],
            [(each.instance_key[8:10], each.state, each.code) for each in left],
            reported,
        )


@pytest.fixture
def scene(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Scene:
    for name, value in short_leases(2).items():
        monkeypatch.setenv(name, value)
    repo = Repo.make(tmp_path)
    repo.write("feeds/clicks.yaml", FEED.format(name="clicks"))
    return Scene(repo=repo, into=tmp_path / "copies", capsys=capsys)


def _outcomes(result: dict[str, object]) -> list[tuple[str, str]]:
    found = result["items"]
    assert isinstance(found, list)
    return [(each["instance"][8:10], each["outcome"]) for each in found]


def _files(*days: int) -> list[str]:
    return [f"2026/03-{day:02d}/{file}" for day in days for file in ("a", "part/b")]


def test_a_new_action_is_small() -> None:
    of_its_own, _, around = Path(copying.__file__).read_text(encoding="utf-8").partition("# How it is put together")
    lines, lines_around = (len(text.splitlines()) for text in (of_its_own + around, around))
    assert lines < 300
    assert lines_around < 100, "wiring, view and command; the rest is the action's package"


def test_a_dry_run_shows_what_is_due_and_touches_nothing(scene: Scene) -> None:
    scene.fill(1, 2, 3, 4)
    code, result = scene.run(dry_run=True)
    assert (code, _outcomes(result)) == (0, [("01", "planned"), ("02", "planned"), ("03", "planned")])
    assert (scene.into.exists(), scene.repo.ledger.exists()) == (False, False)
    assert result["plan_digest"]


def test_a_run_copies_what_is_due_and_a_second_one_has_nothing_to_do(scene: Scene) -> None:
    scene.fill(1, 2, 3)
    code, result = scene.run()
    assert (code, result["status"], scene.copied()) == (0, "succeeded", _files(1, 2, 3))
    assert (scene.into / "clicks/2026/03-02/part/b").read_bytes() == b"b" * 10
    scene.fill(4)
    code, result = scene.run(day=4)
    assert (code, _outcomes(result)) == (0, [("04", "done")])
    code, result = scene.run(day=4)
    assert (code, _outcomes(result), result["feeds"][0]["copied_before"]) == (0, [], 4)  # type: ignore[index]
    statuses, written, reported = scene.ledger()
    assert statuses == [RunStatus.SUCCEEDED] * 3
    assert written == [(f"{day:02d}", ItemState.DONE, None) for day in (1, 2, 3, 4)]
    assert reported == ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]
    lines = [(line["what"], line["state"]) for line in scene.repo.audit if line["what"] in {"batch", "item"}]
    assert lines == [("batch", "intended"), *[("item", "done")] * 3, ("batch", "intended"), ("item", "done")]


def test_what_is_not_there_yet_is_waited_for(scene: Scene) -> None:
    scene.fill(1)
    code, result = scene.run()
    assert (code, scene.copied(), result["feeds"][0]["notes"]) == (  # type: ignore[index]
        0,
        _files(1),
        ["not there yet: 2026-03-02T00:00Z, 2026-03-03T00:00Z"],
    )
    code, result = scene.run()
    assert (code, result["status"]) == (ExitCode.NOT_YET, "not_yet")
    assert result["feeds"][0]["waiting"]["code"] == "not_available"  # type: ignore[index]
    assert scene.ledger()[0] == [RunStatus.SUCCEEDED, RunStatus.WAITING]


def test_a_limit_refuses_until_exactly_that_plan_is_approved(scene: Scene) -> None:
    scene.fill(1, 2, 3)
    code, result = scene.run(most=2)
    assert (code, scene.into.exists()) == (ExitCode.REFUSED, False)
    digest = result["plan_digest"]
    assert scene.run(day=2, most=1, approve=digest)[0] == ExitCode.REFUSED
    code, result = scene.run(most=2, approve=digest)
    assert (code, scene.copied()) == (0, _files(1, 2, 3))


@pytest.mark.parametrize("day", [1, 2])
def test_a_copy_that_died_in_its_middle_is_never_half_visible_and_the_next_run_makes_it_whole(
    scene: Scene, day: int
) -> None:
    scene.fill(*{1, 2, 3} - {day})
    scene.fill(day, size=LIMIT + 1)
    arguments = [str(scene.repo.path), "2026-03-03T00:00Z", scene.into.as_uri()]
    command = [sys.executable, "-c", DIES, *arguments]
    died = subprocess.run(command, cwd=ROOT, timeout=60, check=False, capture_output=True)
    assert died.returncode == -signal.SIGXFSZ, died.stderr
    begun = [path for path in scene.copied() if f"/{STAGING_PREFIX}" in path]
    assert begun  # of the one in whose middle it died
    whole = {path.name for path in (scene.into / "clicks/2026").glob("03-*")}
    assert f"03-{day:02d}" not in whole
    assert scene.ledger()[1] == [(f"{each:02d}", ItemState.INTENDED, None) for each in (1, 2, 3)]
    code, result = _as_soon_as_the_lease_is_free(scene)
    assert (code, scene.copied()) == (0, _files(1, 2, 3))
    assert (scene.into / f"clicks/2026/03-{day:02d}/part/b").stat().st_size == LIMIT + 1
    assert "an earlier run died: of its 3 open copies" in result["feeds"][0]["notes"][0]  # type: ignore[index]
    statuses, written, reported = scene.ledger()
    assert (statuses[0], statuses[-1]) == (RunStatus.KILLED, RunStatus.SUCCEEDED)
    first = {key: (state, code) for key, state, code in written[:3]}
    assert first[f"{day:02d}"] == (ItemState.FAILED, "interrupted")
    assert all(state is ItemState.DONE for key, (state, _) in first.items() if f"03-{key}" in whole)
    assert sorted(reported) == ["2026-03-01", "2026-03-02", "2026-03-03"]


def _as_soon_as_the_lease_is_free(scene: Scene) -> tuple[int, dict[str, object]]:
    code, result = scene.run()
    until = time.monotonic() + 60
    while code == ExitCode.SKIPPED:
        assert time.monotonic() < until
        time.sleep(0.2)
        code, result = scene.run()
    return code, result


def test_several_feeds_are_copied_at_once(scene: Scene) -> None:
    scene.repo.write("feeds/views.yaml", FEED.format(name="views"))
    scene.fill(1, 2, 3)
    scene.fill(1, 2, 3, feed="views")
    code, result = scene.run(parallel=2)
    assert (code, len(_outcomes(result))) == (0, 6)
    assert (scene.copied(), scene.copied("views")) == (_files(1, 2, 3), _files(1, 2, 3))


def test_a_hold_stops_a_copy_as_it_stops_an_eviction(scene: Scene) -> None:
    scene.fill(1)
    (scene.repo.data / "clicks" / ".feedctl-hold").touch()
    code, result = scene.run(day=1)
    assert (code, _outcomes(result), scene.into.exists()) == (0, [("01", "skipped")], False)


def test_the_result_is_rendered_for_people_as_well(scene: Scene) -> None:
    scene.fill(1)
    assert execute(str(scene.repo.path), "2026-03-01T00:00Z", scene.own(), form=ResultFormat.TEXT) == 0
    source, copy = scene.repo.data / "clicks/2026/03-01", scene.into / "clicks/2026/03-01"
    lines = scene.capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        f"done    2026-03-01T00:00Z  file://{source} -> file://{copy}",
        "clicks on primary: 1 done; 0 were copied before; run 1, attempt 1",
        lines[-1],
    ]
    assert lines[0].startswith("copy at 2026-03-01T00:00Z; config repo: ")
    assert lines[-1].startswith("status: succeeded; plan ")
