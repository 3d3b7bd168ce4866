"""Outputs of `scope: run`: evicted by retention once all consumers of the instance have succeeded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from entrypoints import process as process_entrypoint
from entrypoints import retention as entrypoint
from tests.integration.process_runs import FEED, KEYS, STARTS_AT, Runs, steps
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.result import ExitCode

NOW = "2026-03-01T06:00Z"
RETENTION = "retention: {limit: days(30), action: delete}"
ONE_STEP = "workflow: {engine: command, path: workflows/consume.sh}"
CONSUMER = """\
kind: process
name: {name}
clusters: [{{name: primary, validity: {{start: {start}, end: 2099-01-01T00:00Z}}}}]
frequency: hours(1)
inputs: {{counts: {{feed: counts, start: "now(0,0)", end: "now(0,0)"}}}}
outputs: {{sums: {{feed: {name}, instance: "now(0,0)", allow_empty: true}}}}
workflow: {{engine: command, path: workflows/consume.sh}}
"""


class TemporaryRuns(Runs):
    """A process with a temporary output, which two processes read."""

    def build(self, scope: str = "run", of_cluster: str = RETENTION) -> None:
        """Write the repo anew."""
        self.write(of_output=f", scope: {scope}")
        feed = FEED.format(name="counts", flag="availability_flag: _SUCCESS")
        self._put("feeds/counts.yaml", feed.replace("2099-01-01T00:00Z}}", f"2099-01-01T00:00Z}}, {of_cluster}}}"))
        for name in ("sums", "means"):
            self._put(f"feeds/{name}.yaml", FEED.format(name=name, flag=""))
            self._put(f"processes/run_{name}.yaml", CONSUMER.format(name=name, start=STARTS_AT).replace(
                f"name: {name}\nclusters", f"name: run_{name}\nclusters"
            ))  # fmt: skip
        self._put("workflows/consume.sh", "#!/bin/sh\n").chmod(0o755)

    def with_steps(self, *scripts: str) -> None:
        """Give the consumers a workflow of steps."""
        names = [f"step-{number}" for number in range(len(scripts))]
        for name, script in zip(names, scripts, strict=True):
            self._put(f"workflows/{name}.sh", f"#!/bin/sh\n{script}\n").chmod(0o755)
        for name in ("sums", "means"):
            place = self.directory / f"repo/processes/run_{name}.yaml"
            place.write_text(place.read_text().replace(ONE_STEP, steps(*names)))

    def consume(self, name: str, *keys: str, code: int = 0, more: Iterable[str] = ()) -> None:
        """Run a consumer."""
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        for key in keys:
            arguments = [*self.repo, "--process", f"run_{name}", "--time", key, *more]
            assert run_app(process_entrypoint.app, arguments) == code

    def evict(self, *more: str) -> int:
        """Run retention of the output."""
        return run_app(entrypoint.app, [*self.repo, "--feed", "counts", "--time", NOW, *more])

    @property
    def there(self) -> list[str]:
        """The instances of the output that are there."""
        return [key for key in KEYS if self.at("counts", key).exists()]


@pytest.fixture
def runs(tmp_path: Path) -> TemporaryRuns:
    made = TemporaryRuns(directory=tmp_path)
    made.fill(*KEYS[:4])
    made.build()
    for key in KEYS[:4]:
        assert made.run(time=key)[0] == 0
    return made


def test_an_instance_goes_once_all_its_consumers_have_succeeded(runs: TemporaryRuns) -> None:
    runs.consume("sums", *KEYS[:3])
    assert (runs.evict(), runs.there) == (0, KEYS[:4])
    runs.consume("means", *KEYS[:2])
    assert (runs.evict("--dry-run"), runs.there) == (0, KEYS[:4])
    assert (runs.evict(), runs.there) == (0, KEYS[2:4])
    assert runs.query("SELECT instance_key FROM event WHERE kind = 'evicted' ORDER BY 1") == [
        (key,) for key in KEYS[:2]
    ]


def test_an_instance_waits_for_earlier_ones(runs: TemporaryRuns) -> None:
    for name in ("sums", "means"):
        runs.consume(name, *KEYS[1:4])
    assert (runs.evict(), runs.there) == (0, KEYS[:4])


def test_an_output_that_is_no_temporary_one_stays(runs: TemporaryRuns) -> None:
    runs.build(scope="series")
    for name in ("sums", "means"):
        runs.consume(name, *KEYS[:4])
    assert (runs.evict(), runs.there) == (0, KEYS[:4])


def test_an_instance_that_was_updated_since_stays_until_its_consumers_ran_again(runs: TemporaryRuns) -> None:
    for name in ("sums", "means"):
        runs.consume(name, KEYS[0])
    (runs.at("clicks", KEYS[0]) / "part-0").write_text("more\n")
    assert runs.run("--force")[0] == 0
    assert (runs.evict(), runs.there) == (0, KEYS[:4])


def test_holds_and_keep_last_count(runs: TemporaryRuns) -> None:
    runs.build(of_cluster="retention: {limit: days(30), action: delete, keep_last: 3}")
    for name in ("sums", "means"):
        runs.consume(name, *KEYS[:3])
    hold = ["hold", "add", "counts", "--start", KEYS[0], "--end", KEYS[1], "--reason", "audit", *runs.repo]
    assert main(hold) == 0
    assert (runs.evict(), runs.there) == (0, KEYS[:4])
    assert main(["hold", "remove", "1", *runs.repo]) == 0
    assert (runs.evict(), runs.there) == (0, KEYS[1:4])


def test_what_went_before_does_not_keep_the_rest(runs: TemporaryRuns) -> None:
    for name in ("sums", "means"):
        runs.consume(name, *KEYS[:2])
    assert (runs.evict(), runs.there) == (0, KEYS[2:4])
    for name in ("sums", "means"):
        runs.consume(name, KEYS[2])
    assert (runs.evict(), runs.there) == (0, KEYS[3:4])


def test_data_that_a_silent_backfill_has_written_stays_until_it_is_read(runs: TemporaryRuns) -> None:
    for name in ("sums", "means"):
        runs.consume(name, KEYS[0])
    (runs.at("clicks", KEYS[0]) / "part-0").write_text("more\n")
    span = ["--start", KEYS[0], "--end", KEYS[1], "--only", "all", "--force", "--events", "none"]
    assert main(["backfill", "count", *span, *runs.repo]) == 0
    assert (runs.at("counts", KEYS[0]) / "part-0").read_text() == "more\n"
    assert (runs.evict(), runs.there) == (0, KEYS[:4])
    for name in ("sums", "means"):
        runs.consume(name, KEYS[0], more=["--force"])
    assert (runs.evict(), runs.there) == (0, KEYS[1:4])


def test_data_that_came_between_the_steps_of_its_consumer_stays(runs: TemporaryRuns) -> None:
    go = runs.directory / "go"
    runs.with_steps("true", f"test -e {go}")
    for name in ("sums", "means"):
        runs.consume(name, KEYS[0], code=ExitCode.PARTIAL)
    (runs.at("clicks", KEYS[0]) / "part-0").write_text("more\n")
    assert runs.run("--force")[0] == 0
    go.touch()
    for name in ("sums", "means"):
        runs.consume(name, KEYS[0])
    assert (runs.evict(), runs.there) == (0, KEYS[:4])


def test_what_a_consumer_counts_by_latest_goes_by_its_age_alone(runs: TemporaryRuns) -> None:
    place = runs.directory / "repo/processes/run_sums.yaml"
    text = place.read_text()
    latest = 'start: "latest(-1)", end: "latest(0)", optional: true'
    place.write_text(text.replace('start: "now(0,0)", end: "now(0,0)"', latest))
    assert latest in place.read_text()
    for name in ("sums", "means"):
        runs.consume(name, *KEYS[:3])
    assert (runs.evict(), runs.there) == (0, KEYS[:4])


def test_the_last_instances_of_a_feed_that_ended_stay_if_they_are_kept(runs: TemporaryRuns) -> None:
    runs.build(of_cluster=f"{RETENTION}, keep_instances_beyond_validity: true")
    place = runs.directory / "repo/feeds/counts.yaml"
    place.write_text(place.read_text().replace("end: 2099-01-01T00:00Z", f"end: {KEYS[4]}"))
    for name in ("sums", "means"):
        runs.consume(name, *KEYS[:2])
    assert (runs.evict(), runs.there) == (0, KEYS[:4])


def test_a_digest_from_outside_silences_no_update(runs: TemporaryRuns) -> None:
    written = "SELECT extra FROM event WHERE feed = 'counts' AND instance_key = "
    (runs.at("clicks", KEYS[0]) / "part-0").write_text("more\n")
    assert runs.run("--force")[0] == 0
    ((extra,),) = runs.query(f"{written}'{KEYS[0]}' ORDER BY sequence DESC LIMIT 1")
    emit = ["event", "emit", "feedctl:feed/counts?cluster=primary", "--time", KEYS[0]]
    assert main([*emit, "--extra", extra, *runs.repo]) == 2
    assert main([*emit, *runs.repo]) == 0
    newest = "sequence = (SELECT max(sequence) FROM event)"
    runs.change(f"UPDATE event SET extra = '{extra}' WHERE {newest}")  # noqa: S608 - of the test alone
    assert runs.run("--force")[0] == 0
    (last,) = runs.query("SELECT kind, instance_key, run_id FROM event ORDER BY sequence DESC LIMIT 1")
    assert last[:2] == ("updated", KEYS[0])
    assert last[2] is not None
