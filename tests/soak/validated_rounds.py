"""Replications at the gate that lose a process anywhere, while their source turns bad and good again."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.commands import BIN
from tests.integration.replications import DUE, KEYS, Replication, outcomes
from tests.soak.killed_processes import all_below, kill, kill_of_driver, validators_of, wait_for_death
from tests.soak.replication_rounds import ALL, DEADLINE_SECONDS, OF_DRIVER, SCRIPT, Victim, run_when_free, started
from tests.testbed.running import ending
from toolkit.actions.staged_unit import staging_place
from toolkit.actions.validation import Part
from toolkit.availability import is_there
from toolkit.el import CanonicalPath
from toolkit.quality.data import print_of_parts
from toolkit.storage import FileSystem

QUALITY = ", quality: {suites: [clicks], on_failure: block, format: json}"
SUITE = "expectations: [{type: expect_column_values_to_not_be_null, kwargs: {column: user}}]\n"
_FLAG = "_SUCCESS"
_VICTIMS = (*OF_DRIVER, Victim.VALIDATOR)


class Version(NamedTuple):
    """What an instance has, or had, at the source.

    Attributes:
        hour: of the instance.
        number: of all that the loop has made.
        rows: in each file.
        is_bad: a row of it is not as expected.
    """

    hour: int
    number: int
    rows: int
    is_bad: bool

    @property
    def files(self) -> dict[str, bytes]:
        """By name; good and bad ones of as many rows have as many bytes."""
        word, user = ("bad!", "null ") if self.is_bad else ("good", '"ann"')
        row = f'{{"user": "joe", "of": "{self.number:05}"}}\n'
        text = row * self.rows + f'{{"user": {user}, "of": "{word} {self.number:05}"}}\n'
        directory = f"clicks/2026-03-01-{self.hour:02}"
        return {f"{directory}/part-{number}": text.encode() for number in range(2)} | {f"{directory}/{_FLAG}": b""}


@dataclass(kw_only=True, slots=True)
class Seen:
    """What a loop saw.

    Attributes:
        victims: how often which process died.
        moments: how often when.
        codes: how often a run that had lost a process ended with which exit code.
        ends: how often an instance was how in the end.
    """

    victims: Counter[str] = field(default_factory=Counter)
    moments: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        reported = (_reported(each) for each in (self.victims, self.moments, self.codes, self.ends))
        return "killed: {}; when: {}; exit codes: {}; instances in the end: {}".format(*reported)


@dataclass(kw_only=True)
class ValidatedRounds:
    """One feed over all rounds, with its source, its target and its ledger.

    Attributes:
        copying: whose target is judged.
        variables: of the processes.
        validates_for: at most so many seconds into a judgement it is killed.
        versions: that each instance has had at the source, the newest last.
        released: versions that a person has released.
    """

    copying: Replication
    variables: Mapping[str, str]
    validates_for: float
    seen: Seen = field(default_factory=Seen)
    versions: dict[int, list[Version]] = field(default_factory=lambda: {hour: [] for hour in range(DUE)})
    released: set[Version] = field(default_factory=set)
    _numbers: int = 0

    def __post_init__(self) -> None:
        suite = self.copying.repo / "expectations/clicks.yaml"
        suite.parent.mkdir()
        suite.write_text(SUITE)

    def one_round(self, seed: int) -> None:
        """Change the source, run, kill, perhaps change it again, run to the end, and perhaps let a person release.

        Args:
            seed: of all that is random.
        """
        chance = random.Random(seed)  # noqa: S311 - a repeatable test, no secret
        self._change(chance, at_least=1, may_keep_size=self._is_atomic)
        shown = self._shown_now()
        self._lose_a_process(chance)
        self._check("after the kill")
        self._disturb(chance)
        self._finish(shown)
        blocked = [hour for hour in range(DUE) if not self._may_be_shown(self._newest(hour))]
        if blocked and chance.random() < 1 / 2:
            self._release(chance, chance.choice(blocked))
            self._check("after the release")
            shown = self._shown_now()  # a release shows what it released, and a newer bad version does not hide it
            self._disturb(chance)
            self._finish(shown)
        for hour in range(DUE):
            newest = self._newest(hour)
            self.seen.ends["released" if newest in self.released else "blocked" if newest.is_bad else "good"] += 1

    def _newest(self, hour: int) -> Version:
        return self.versions[hour][-1]

    def _change(self, chance: random.Random, *, at_least: int, may_keep_size: bool) -> None:
        """Some instances are others from now on; the first time all are."""
        new = [hour for hour in range(DUE) if not self.versions[hour]]
        old = chance.sample(range(DUE), chance.randint(at_least, DUE))
        for hour in new or old:
            rows = self._newest(hour).rows if self.versions[hour] else 1
            rows += 0 if may_keep_size and chance.random() < 1 / 2 else 1
            self._numbers += 1
            made = Version(hour, self._numbers, rows, is_bad=chance.random() < 1 / 2)
            self.versions[hour].append(made)
            self.copying.sources["primary"].fill(made.files)

    def _disturb(self, chance: random.Random) -> None:
        """What was judged, or waits for it, is changed, or the source is, or nothing."""
        draw = chance.random()
        if draw < 1 / 3:
            self._change(chance, at_least=1, may_keep_size=False)
        elif draw < 2 / 3:
            hour = chance.randrange(DUE)
            if self._shown(hour) is None or self._is_atomic:
                self._spoil(hour)

    def _spoil(self, hour: int) -> None:
        """Somebody writes where it waits."""
        system, place = self._system, self._waits_at(hour).child("part-0")
        if is_there(system, place):
            with system.read(place) as stream:
                text = stream.read()
            system.write(place, [text, b'{"user": null, "of": "bad! by another"}\n'])
            self.released.discard(self._newest(hour))  # it was these files alone

    def _lose_a_process(self, chance: random.Random) -> None:
        victim, before = chance.choice(_VICTIMS), len(self._results())
        with started(self.copying, self.variables) as run:
            self._wait(chance, victim, run, before)
            validators, everything, is_over = validators_of(run.pid), all_below(run.pid), run.poll() is not None
            if victim is not Victim.VALIDATOR:
                kill_of_driver(run.pid, SCRIPT, is_jvm=victim is not Victim.DRIVER, is_python=victim is not Victim.JVM)
            elif validators:
                kill(chance.choice(validators))
            self.seen.victims[victim] += 1
            self.seen.codes[run.wait(DEADLINE_SECONDS)] += 1
        wait_for_death(*everything)
        self.seen.moments["over" if is_over else self._moment(before, is_validating=bool(validators))] += 1

    def _moment(self, before: int, *, is_validating: bool) -> str:
        """When it was, by what there is."""
        new = self._results()[before:]
        passed = {each["instance_key"] for each in new if each["state"] == "passed"}
        if any(KEYS[hour] in passed and self._shown(hour) != self._newest(hour) for hour in range(DUE)):
            return "between verdict and announcement"
        return "one is judged" if is_validating else "after a verdict" if new else "before the gate"

    def _wait(self, chance: random.Random, victim: Victim, run: subprocess.Popen[bytes], results: int) -> None:
        """For any moment of the run, or for one when it copies, judges, or has judged."""
        listed = self._listed()
        moments: list[tuple[Callable[[], bool], float]] = [
            (lambda: True, 4 + 2 * self.validates_for),
            (lambda: self._listed() != listed, 1.0),
            (lambda: bool(validators_of(run.pid)), self.validates_for),
            (lambda: len(self._results()) > results, 0.2),
        ]
        is_reached, at_most = (
            moments[2] if victim is Victim.VALIDATOR else chance.choices(moments, weights=(1, 1, 1, 3))[0]
        )
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not is_reached() and run.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        deadline = time.monotonic() + chance.uniform(0, at_most)
        while run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)

    def _release(self, chance: random.Random, hour: int) -> None:
        """By a command, which half of the times is killed anywhere."""
        options = ("--time", KEYS[hour], "--cluster", "backup", "--reason", "known")
        command = [str(BIN / "feedctl"), "quality", "release", "clicks", *options]
        command = [*command, "--config-repo", str(self.copying.repo)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with ending(subprocess.Popen(command, env=self.variables, text=True, **streams)) as run:  # type: ignore[call-overload]
            is_killed = chance.random() < 1 / 2
            if is_killed:
                deadline = time.monotonic() + chance.uniform(0.3, 5)
                while run.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.005)
                kill(run.pid)
            output, _ = run.communicate(timeout=DEADLINE_SECONDS)
        self.seen.victims["release"] += is_killed
        newest = self._newest(hour)
        if self._results(KEYS[hour])[-1]["state"] == "released":
            self.released.add(newest)
        if not is_killed:
            assert (run.returncode, self._shown(hour)) == (0, newest), output

    def _finish(self, shown: Mapping[int, Version | None]) -> None:
        """Run to the end: what may be shown is, what may not be is blocked, and nothing else is left."""
        code, result = run_when_free(self.copying)
        self._check("after the next run")
        reported = {key: (outcome, why) for key, outcome, why in outcomes(result)}
        blocked = {KEYS[hour] for hour in range(DUE) if not self._may_be_shown(self._newest(hour))}
        assert {key for key in reported if reported[key] == ("failed", "quality_failed")} == blocked, result
        assert all(reported[key] == ("done", None) for key in reported if key not in blocked), result
        expected = 0 if not blocked else 1 if len(blocked) == DUE else 4
        assert code == expected, result
        for hour in range(DUE):
            newest = self._newest(hour)
            before = shown[hour] if self._is_atomic else None
            assert self._shown(hour) == (newest if self._may_be_shown(newest) else before), hour
            waits = is_there(self._system, staging_place(self._unit(hour)))
            assert waits is (self._is_atomic and KEYS[hour] in blocked), hour
        code, result = self.copying.run(*ALL)
        assert (code, len(result["items"])) == (expected, len(blocked)), f"a run more has something to do: {result}"

    def _may_be_shown(self, version: Version) -> bool:
        return not version.is_bad or version in self.released

    def _check(self, moment: str) -> None:
        """What readers see is whole, good or released, and has a verdict on exactly these files."""
        publishable = {
            (each["instance_key"], each["data_digest"], each["bytes"])
            for each in self._results()
            if each["state"] in {"passed", "released"}
        }
        for hour in range(DUE):
            version = self._shown(hour)
            if version is None:
                continue
            assert self._may_be_shown(version), f"{version} is shown {moment}"
            found = print_of_parts([Part(place=self._unit(hour), keys={})], _FLAG, lambda _: self._system)
            reported = (KEYS[hour], found.data_digest, sum(map(len, version.files.values())))
            assert reported in publishable, f"{version} is shown without a verdict {moment}"
        announced = self._query("SELECT instance_key, recorded_at FROM event WHERE kind IN ('available', 'updated')")
        for event in announced:
            assert any(
                each["instance_key"] == event["instance_key"]
                and each["state"] in {"passed", "released"}
                and each["recorded_at"] <= event["recorded_at"]
                for each in self._results()
            ), f"{event['instance_key']} was announced without a verdict {moment}"

    def _shown(self, hour: int) -> Version | None:
        """Return what readers see of an instance; no version that it ever had is none that may be seen."""
        name = f"clicks/2026-03-01-{hour:02}"
        found = self.copying.target.files(name)
        if f"{name}/{_FLAG}" not in found:
            assert not found or not self._is_atomic, f"{name} is there without its flag"
            return None
        versions = [each for each in self.versions[hour] if each.files == found]
        assert versions, f"{name} is none that the source ever had: {found}"
        return versions[0]

    def _shown_now(self) -> dict[int, Version | None]:
        return {hour: self._shown(hour) for hour in range(DUE)}

    def _unit(self, hour: int) -> CanonicalPath:
        return self.copying.target.at(f"clicks/2026-03-01-{hour:02}")

    def _waits_at(self, hour: int) -> CanonicalPath:
        return staging_place(self._unit(hour)) if self._is_atomic else self._unit(hour)

    def _listed(self) -> dict[str, bytes]:
        return self.copying.target.files(hidden=True)

    @property
    def _system(self) -> FileSystem:
        return self.copying.target.system

    @property
    def _is_atomic(self) -> bool:
        return self._system.capabilities.atomic_rename

    def _results(self, key: str = "%") -> list[dict[str, Any]]:
        """Return those of the ledger that count, the newest last."""
        return self._query(
            "SELECT * FROM verdict WHERE NOT is_by_hand AND instance_key LIKE ? ORDER BY verdict_id", key
        )

    def _query(self, sql: str, *values: str) -> list[dict[str, Any]]:
        path = self.copying.directory / "ledger.db"
        if not Path(path).exists():
            return []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as connection:
            connection.row_factory = sqlite3.Row
            try:
                return [dict(row) for row in connection.execute(sql, values)]
            except sqlite3.OperationalError:
                return []  # its tables are not made yet


def _reported(counted: Counter[Any]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counted.items(), key=str))
