"""Runs of the process of `process_runs` whose output is judged, by a program that stands for Spark."""

from __future__ import annotations

import os
import sys
import time as clock
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.process_runs import ONLY, Runs

_VALIDATOR = """\
#!{python}
import sys
import time
from pathlib import Path

from toolkit.el import CanonicalPath
from toolkit.quality.documents import Answer, ExpectationResult, read_question, write_answer
from toolkit.storage import FileKind, StorageSpec, open_file_system
from toolkit.transfer.trees import below


def texts(uri):
    place = CanonicalPath.parse(uri)
    if place.scheme not in {known!r}:
        yield None
        return
    system = open_file_system(StorageSpec(scheme=place.scheme, authority=place.authority, hadoop_conf={conf!r}))
    for each in system.list_tree(place):
        if each.kind is FileKind.FILE:
            with system.read(below(place, each.name)) as stream:
                yield stream.read().decode()


question, answer = (Path(each) for each in sys.argv[-2:])
with Path({trace!r}).open("a") as trace:
    trace.write("judged\\n")
while Path({hang!r}).exists():
    time.sleep(0.05)
asked = read_question(question)
files = [text for part in asked.parts for text in texts(part.uri)]
is_good = None not in files and not any("bad" in text for text in files)
findings = tuple(
    ExpectationResult(suite=each.suite, position=each.position, type=each.type, severity=each.severity, success=is_good)
    for each in asked.expectations
)
write_answer(answer, Answer(findings=findings, rows=len(files), seconds=0.1, engine="test"))
"""
SUITE = """\
expectations:
  - {type: expect_table_row_count_to_be_between, kwargs: {min_value: 1}}
"""


@dataclass(frozen=True, kw_only=True)
class ValidatedRuns(Runs):
    """The output `counts` is judged: where the word ``bad`` is in it, it is blocked."""

    def write(
        self,
        workflow: str = ONLY,
        scripts: Mapping[str, str] | None = None,
        *,
        more: str = "",
        of_output: str = "",
        flag: str = "availability_flag: _SUCCESS",
    ) -> None:
        """As of its base, with a suite and a judge."""
        super().write(workflow, scripts, more=more, of_output=of_output, flag=flag)
        self._put("expectations/counts.yaml", SUITE)
        feed = self.directory / "repo/feeds/counts.yaml"
        feed.write_text(f"{feed.read_text()}quality: {{suites: [counts], format: json}}\n")
        put_validator(self.directory / "bin", trace=self.trace, hang=self.directory / "hang-judge")

    def making(self, word: str = "count") -> str:
        """A script that leaves a trace, and makes the output out of the input, where it is told to."""
        return self.saying(word, "mkdir -p $counts\\ncat $clicks/part-0 > $counts/part-0".replace("\\n", "\n"))

    def spoil(self, key: str) -> None:
        """Let an instance of the input be there that makes a bad output."""
        self.fill(key)
        (self.at("clicks", key) / "part-0").write_text(f"bad clicks of {key}\n")

    @property
    def staging(self) -> Path:
        """Staging directory of the outputs."""
        return self.directory / "data/counts/.feedctl-staging"

    def waits(self, key: str) -> bool:
        """Return whether the output of an instance is staged."""
        return (self.staging / self.at("counts", key).name).exists()

    def release(self) -> None:
        """As `feedctl quality release` marks all that is blocked."""
        self.change("UPDATE verdict SET state = 'released', decided_by = 'alice', decision = 'known'")


def put_validator(directory: Path, *, trace: Path, hang: Path, conf: Mapping[str, str] | None = None) -> None:
    """Write the program that judges; it tells a file of each judgement, and hangs while another one is there.

    What is not on this disk it finds bad, unless it has the settings of an object store.
    """
    validator = directory / "spark-submit"
    directory.mkdir(exist_ok=True)
    known = ("file", "s3") if conf else ("file",)
    facts = {"trace": str(trace), "hang": str(hang), "known": known, "conf": dict(conf or {})}
    validator.write_text(_VALIDATOR.format(python=sys.executable, **facts))
    validator.chmod(0o755)


@contextmanager
def basis(runs: ValidatedRuns) -> Iterator[None]:
    """The program that judges is found in the body."""
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{runs.directory}/bin{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def killed_and_run_again(runs: ValidatedRuns, key: str, moment: str, *, is_bad: bool) -> None:
    """Kill a run (-9) around the gate, and run again until it is over: published by a verdict, or blocked by one."""
    runs.trace.unlink(missing_ok=True)
    hang = runs.directory / "hang-judge"
    if moment == "during":
        hang.touch()
    with runs.started(time=key, lease_seconds=30) as run:
        place = runs.staging if moment == "after" and is_bad else runs.directory / "data/counts"
        moments: Mapping[str, Callable[[], bool]] = {
            "before": lambda: runs.waits(key),
            "during": lambda: "judged" in runs.output(),
            "after": lambda: is_there(place, runs.at("counts", key).name),
        }
        deadline = clock.monotonic() + 90
        while not moments[moment]() and run.poll() is None:
            assert clock.monotonic() < deadline
            clock.sleep(0.002)
        run.kill()
        run.communicate()
    hang.unlink(missing_ok=True)
    require_result(runs, key)
    code, result = runs.run(time=key)
    while code not in {0, 1}:  # the lease of the dead has not run out
        assert clock.monotonic() < deadline + 90
        clock.sleep(0.5)
        code, result = runs.run(time=key)
    assert code == (1 if is_bad else 0), result
    require_result(runs, key)
    assert runs.at("counts", key).exists() is not is_bad
    assert runs.waits(key) is is_bad
    assert runs.alive() == []


def is_there(place: Path, name: str) -> bool:
    """Return whether a staged directory, or its manifest, is there."""
    return (place / name).exists() if place.name != ".feedctl-staging" else (place / f"{name}.blocked.json").exists()


def require_result(runs: ValidatedRuns, key: str) -> None:
    """What readers see was judged, and what was announced is what they see."""
    results = runs.query("SELECT instance_key, state FROM verdict")
    if runs.at("counts", key).exists():
        assert (key, "passed") in results
    if ("available", key[11:13]) in runs.events():
        assert runs.at("counts", key).exists()
