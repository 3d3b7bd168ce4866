"""Outputs that a run removes before its first step: `prepare: delete`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from entrypoints import process
from tests.databases.forking import Forks, forking
from tests.integration.process_runs import KEYS, Runs, outcomes, steps
from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.catalog.model import TableName
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.el import CanonicalPath, parse_instant
from toolkit.ledger.vocabulary import LeaseMode
from toolkit.process_runner.output_leases import output_leases
from toolkit.process_runner.prepare import PrepareBatch
from toolkit.process_runner.selection import ProcessSelection, sites
from toolkit.process_runner.targets import ProcessTarget
from toolkit.runs.errors import Stopped
from toolkit.storage import FileStatus, LocalFileSystem

DELETE = ", prepare: delete"


@pytest.fixture
def counting(tmp_path: Path) -> Runs:
    """A process that counts one hour of clicks, and removes what an earlier run has made of it."""
    runs = Runs(directory=tmp_path)
    runs.write(of_output=DELETE)
    runs.fill(*KEYS[:3])
    return runs


@pytest.fixture
def old(counting: Runs) -> Path:
    """A file that an earlier run has left in the output."""
    made = counting.at("counts", KEYS[0])
    made.mkdir(parents=True)
    (made / "_SUCCESS").touch()
    (made / "old").touch()
    return made / "old"


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with forking() as started:
        yield started


def removals(runs: Runs) -> list[tuple[str, str | None]]:
    """State and code of the removals that the ledger knows."""
    return runs.query("SELECT state, code FROM item WHERE kind = 'prepare' ORDER BY run_id, position")


def hold(runs: Runs, text: str) -> None:
    (runs.directory / "repo/holds.yaml").write_text(f"holds:\n  - {{feed: counts, reason: audit{text}}}\n")


def test_an_output_of_an_earlier_run_is_removed_before_the_first_step(counting: Runs, old: Path) -> None:
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("counts", "done", None), ("main", "done", None)])
    assert (old.exists(), (old.parent / "part-0").exists(), (old.parent / "_SUCCESS").exists()) == (False, True, True)
    assert removals(counting) == [("done", None)]
    assert (result["items"][0]["kind"], result["items"][0]["path"]) == ("prepare", f"file://{old.parent}")
    assert counting.audited("prepare") == [("prepare", "done", f"counts/{old.parent.name}")]


def test_where_nothing_is_there_nothing_is_removed(counting: Runs) -> None:
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("counts", "skipped", "nothing_there"), ("main", "done", None)])


def test_only_the_instance_of_the_run_is_removed(counting: Runs, old: Path) -> None:
    counting.run(time=KEYS[1])
    assert old.exists()


def test_without_prepare_nothing_is_removed(counting: Runs, old: Path) -> None:
    counting.write()
    assert outcomes(counting.run()[1]) == [("main", "done", None)]
    assert old.exists()


def test_a_dry_run_says_what_would_be_removed_and_removes_nothing(
    counting: Runs, old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, result = counting.run("--dry-run")
    assert (code, outcomes(result)) == (0, [("counts", "planned", None), ("main", "planned", None)])
    assert old.exists()
    capsys.readouterr()


def test_a_step_that_only_looks_whether_the_output_is_there_makes_it_anew(counting: Runs) -> None:
    """The run removes the output of a failed attempt, so the guard `test -d` of a script does no harm."""
    made = counting.at("counts", KEYS[0])
    script = f"if test -d {made}; then exit 0; fi\n{counting.making()}\ntest -f {counting.directory}/ok"
    counting.write(scripts={"count": script}, of_output=DELETE)
    assert counting.run()[0] == 1
    (counting.directory / "ok").touch()
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("counts", "done", None), ("main", "done", None)])


def test_an_attempt_that_goes_on_in_the_middle_removes_nothing(counting: Runs) -> None:
    ok = counting.directory / "ok"
    scripts = {"make": counting.making("make"), "tell": counting.saying("tell", f"test -f {ok}")}
    counting.write(steps(*scripts), scripts, of_output=DELETE)
    assert counting.run()[0] == 4
    ok.touch()
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("tell", "done", None)])
    assert (counting.at("counts", KEYS[0]) / "part-0").exists()


@pytest.mark.parametrize(
    "held", [lambda runs: hold(runs, ""), lambda runs: (runs.directory / "data/counts/.feedctl-hold").touch()]
)
def test_an_output_on_hold_is_not_removed_and_its_instance_waits(
    counting: Runs, old: Path, held: Callable[[Runs], None]
) -> None:
    held(counting)
    code, result = counting.run()
    assert (code, result["items"], result["instances"][0]["waiting"]["code"]) == (75, [], "held")
    assert "would be removed before the first step" in result["instances"][0]["waiting"]["message"]
    assert (old.exists(), counting.output()) == (True, [])


def test_a_hold_of_other_instances_is_none_of_this_one(counting: Runs, old: Path) -> None:
    hold(counting, f", start: {KEYS[1]}")
    assert counting.run()[0] == 0
    assert not old.exists()


def test_a_hold_that_comes_after_the_plan_fails_the_run_before_its_first_step(
    counting: Runs, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, looks = old.parent.parent / ".feedctl-hold", list[str]()
    status = LocalFileSystem.status

    def after_the_plan(self: LocalFileSystem, path: CanonicalPath) -> FileStatus:
        if path.name == ".feedctl-hold":
            looks.append(path.path)
            if len(looks) == 2:
                file.touch()
        return status(self, path)

    monkeypatch.setattr(LocalFileSystem, "status", after_the_plan)
    code, result = counting.run()
    assert (code, outcomes(result)) == (1, [("counts", "failed", "held"), ("main", "skipped", "not_reached")])
    assert (old.exists(), counting.output()) == (True, [])


def _linked(runs: Runs) -> None:
    made = runs.at("counts", KEYS[0])
    made.rename(runs.directory / "elsewhere")
    made.symlink_to(runs.directory / "elsewhere")


def test_what_a_link_leads_to_is_not_removed(counting: Runs, old: Path) -> None:
    _linked(counting)
    code, result = counting.run()
    assert (code, [each[1] for each in outcomes(result)]) == (1, ["failed", "skipped"])
    assert ((counting.directory / "elsewhere" / old.name).exists(), counting.output()) == (True, [])


def test_after_a_removal_that_failed_no_other_output_is_removed(counting: Runs, old: Path) -> None:
    others = []
    for name in ("more", "most"):
        feed = (counting.directory / "repo/feeds/counts.yaml").read_text()
        (counting.directory / f"repo/feeds/{name}.yaml").write_text(feed.replace("counts", name))
        others.append(counting.directory / f"data/{name}" / old.parent.name / "old")
        others[-1].parent.mkdir(parents=True)
        others[-1].touch()
    outputs = [f', {name}: {{feed: {name}, instance: "now(0,0)"{DELETE}}}' for name in ("more", "most")]
    _change(counting, "processes/count.yaml", (f"{DELETE}}}}}", f"{DELETE}}}{''.join(outputs)}}}"))
    _linked(counting)
    code, result = counting.run()
    assert (code, [each[1] for each in outcomes(result)]) == (1, ["failed", "skipped", "skipped", "skipped"])
    assert ([each.exists() for each in others], counting.output()) == ([True, True], [])


def _change(runs: Runs, file: str, *changes: tuple[str, str]) -> None:
    path = runs.directory / "repo" / file
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


DATED = "/${YEAR}-${MONTH}-${DAY}-${HOUR}"
NOT_REMOVABLE: Mapping[str, tuple[str, tuple[str, str], str]] = {
    "the directory of all instances": ("feeds/counts.yaml", (f'"/counts{DATED}"', '"/counts"'), "has no date"),
    "several instances": ("feeds/counts.yaml", ("-${DAY}-${HOUR}", "-${DAY}"), "is not the directory of one instance"),
    "what another run makes": (
        "feeds/counts.yaml",
        ("hours(1)", "days(1)"),
        "the run 2026-03-01T01:00Z also makes 2026-03-01T00:00Z of counts",
    ),
    "data of another feed": ("feeds/clicks.yaml", (f'"/clicks{DATED}"', f'"/counts{DATED}/in"'), "data of clicks"),
    "what the process reads": ("processes/count.yaml", ("feed: clicks,", "feed: counts,"), "the input clicks reads"),
}


@pytest.mark.parametrize("what", NOT_REMOVABLE)
def test_more_than_the_output_of_the_run_is_never_removed(counting: Runs, old: Path, what: str) -> None:
    file, change, why = NOT_REMOVABLE[what]
    _change(counting, file, change)
    counting.fill(KEYS[0])
    (counting.at("counts", KEYS[0]) / "in").mkdir()
    (counting.at("counts", KEYS[0]) / "in/_SUCCESS").touch()
    (counting.directory / "data/counts/_SUCCESS").touch()
    code, result = counting.run()
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "not_removable")
    assert why in result["instances"][0]["failure"]["message"]
    assert (old.exists(), counting.output()) == (True, [])


def test_a_run_after_the_last_instance_of_its_output_removes_nothing_of_it(counting: Runs, old: Path) -> None:
    _change(counting, "feeds/counts.yaml", ("end: 2099-01-01T00:00Z", "end: 2026-03-01T01:00Z"))
    code, result = counting.run(time=KEYS[1])
    assert code == 1, result
    assert "a time after the last instance of counts" in result["instances"][0]["failure"]["message"]
    assert (old.exists(), counting.output()) == (True, [])


def test_a_table_that_the_process_reads_is_not_removed_with_an_output(
    counting: Runs, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its partition is in the directory of the output."""
    metastore, name = MemoryMetastore(("web",)), TableName("web", "clicks")
    table = table_of(name, f"file://{counting.directory}/elsewhere", ds="string")
    metastore.create_table(table)
    metastore.add_partitions(name, [partition_of(table, "2026-03-01-00", location=f"file://{old.parent}")])
    monkeypatch.setattr("toolkit.bootstrap.process.catalog_for_reading", lambda _: metastore)
    located = 'locations: {data: "/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}"}'
    _change(
        counting,
        "feeds/clicks.yaml",
        (located, 'table: "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"'),
        ("availability_flag: _SUCCESS", ""),
    )
    _change(
        counting,
        "clusters/primary.yaml",
        ("interfaces: {", 'interfaces: {registry: {endpoint: "thrift://localhost:9083"}, '),
    )
    code, result = counting.run()
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "not_removable")
    assert f"the input clicks reads file://{old.parent}" in result["instances"][0]["failure"]["message"]
    assert (old.exists(), counting.output()) == (True, [])


@pytest.mark.parametrize(("prepare", "mode"), [(DELETE, LeaseMode.EXCLUSIVE), ("", LeaseMode.SHARED)])
def test_while_an_output_is_removed_and_made_no_other_run_writes_it(
    counting: Runs, prepare: str, mode: LeaseMode
) -> None:
    """Several instances may write one output; one that removes it is alone."""
    counting.write(of_output=prepare)
    request = RepoRequest(config_repo=counting.repo[1], variables={})
    repository = load_entities(open_config(request), request)
    (site,) = sites(repository, ProcessSelection(name="count", cluster=None))
    nominal = parse_instant(KEYS[0])
    (wanted,) = output_leases(ProcessTarget(site=site, nominal_time=nominal, waits_until=nominal))
    assert (wanted.resource, wanted.mode) == (f"instance/counts/primary/{KEYS[0]}", mode)


def test_safe_mode_removes_nothing(counting: Runs, old: Path) -> None:
    assert main(["admin", "safe-mode", "on", *counting.repo]) == 0
    assert (counting.run()[0], old.exists()) == (5, True)


def run_and_die(arguments: list[str], effect: int) -> str:
    """Run a process, and kill the Python at one of the effects of its removal."""
    left = [effect]
    removed, renamed = os.unlink, os.rename

    def dying(work: Callable[..., None]) -> Callable[..., None]:
        def call(*given: object, **named: object) -> None:
            if str(given[0]) in NAMES:
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
            work(*given, **named)

        return call

    os.unlink, os.rename = dying(removed), dying(renamed)
    return str(run_app(process.app, arguments))


NAMES = frozenset({"2026-03-01-00", "old", "file", "_SUCCESS"})
"""Names of the removed directory and of the files in it."""


@pytest.mark.parametrize("effect", [0, pytest.param(1, marks=pytest.mark.extended), 2])
def test_a_run_killed_in_the_middle_of_a_removal_is_finished_by_the_next(
    counting: Runs, old: Path, forks: Forks, effect: int
) -> None:
    (old.parent / "sub").mkdir()
    (old.parent / "sub/file").touch()
    ended = forks.call(run_and_die, counting.arguments(), effect)
    assert (ended.was_killed, counting.output(), removals(counting)) == (True, [], [("intended", None)])
    code, result = counting.run()
    removed = ("counts", "done", None) if effect < 2 else ("counts", "skipped", "nothing_there")
    assert (code, outcomes(result)) == (0, [removed, ("main", "done", None)])
    assert sorted(each.name for each in old.parent.iterdir()) == ["_SUCCESS", "part-0"]
    assert [each.name for each in old.parent.parent.iterdir()] == [old.parent.name]
    assert [state for state, _ in removals(counting)] == ["failed", "done" if effect < 2 else "skipped"]


def test_after_a_killed_run_that_was_to_start_over_the_next_starts_over(counting: Runs, forks: Forks) -> None:
    """It has removed what the first step had written; whoever goes on behind that step announces half of an output."""
    made, ok = counting.at("counts", KEYS[0]), counting.directory / "ok"
    adding = f"mkdir -p {made}\ntouch {made}/part-1\ntest -f {ok}"
    scripts = {"make": counting.making("make"), "add": counting.saying("add", adding)}
    counting.write(steps(*scripts), scripts, of_output=DELETE)
    assert counting.run()[0] == 4
    (made / "old").touch()
    assert forks.call(run_and_die, counting.arguments("--force"), 1).was_killed
    assert not made.exists()
    ok.touch()
    code, result = counting.run()
    assert (code, [each[0] for each in outcomes(result)]) == (0, ["counts", "make", "add"])
    assert sorted(each.name for each in made.iterdir()) == ["_SUCCESS", "part-0", "part-1"]


def test_a_run_after_one_that_was_stopped_at_a_removal_does_not_say_that_its_steps_died(
    counting: Runs, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> bool:
        raise Stopped(reason="received SIGTERM")

    with monkeypatch.context() as patch:
        patch.setattr(PrepareBatch, "_remove", stopped)
        assert counting.run()[0] == 143
    code, result = counting.run()
    assert (code, old.exists()) == (0, False)
    assert result["instances"][0]["notes"][0] == "an earlier run was interrupted while it changed outputs"
