"""A process that writes an old instance anew, and retention of that instance, in one Python process."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.integration.process_runs import KEYS, Runs
from tests.integration.replications import End
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import NO_FEED, EntitySelection
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.process import ProcessOptions, run_processes
from toolkit.bootstrap.retention import evict
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities import Engine
from toolkit.process_runner.selection import ProcessSelection
from toolkit.process_runner.targets import ProcessResult
from toolkit.programs.port import StepCall, StepEnd, StepMark
from toolkit.retention import RetentionResult
from toolkit.runs.stop import NeverStopped

KEY = KEYS[0]
LATER = datetime(2026, 3, 20, 12, tzinfo=UTC)
"""Time at which all instances of the day are older than the limit."""
PARTS = 4
_SECONDS = 30.0


@dataclass(kw_only=True)
class PartWriter:
    """A `StepEngine` whose step writes its parts one by one; `between` is called before each part but the first."""

    end: End
    place: str
    text: str
    between: Callable[[int], None] = lambda _: None

    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        started(StepMark(log=call.log))
        for part in range(PARTS):
            if part:
                self.between(part)
                check()
            self.end.fill({f"{self.place}/part-{part}": f"{self.text} {part}\n".encode()})
        return StepEnd(exit_code=0)


@dataclass(kw_only=True)
class Rewriting:
    """A config repo with a process that makes `counts`, and retention of `counts`.

    Attributes:
        archives: what is old is archived, else deleted.
        layout: of the output below its directory.
        uri: of the directory of all data; empty: it is on this disk.
    """

    directory: Path
    archives: bool = False
    layout: str = "${YEAR}-${MONTH}-${DAY}-${HOUR}"
    more: str = ""
    uri: str = ""
    runs: Runs = field(init=False)
    end: End = field(init=False)

    def __post_init__(self) -> None:
        self.runs = Runs(directory=self.directory)
        self.runs.write(more="parallel: 6")
        local = f"file://{self.directory}/data"
        self.end = End(uri=self.uri or local)
        on = self.directory / "repo/clusters/primary.yaml"
        on.write_text(on.read_text().replace(local, self.end.uri))
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        feed = self.directory / "repo/feeds/counts.yaml"
        archive = f', action: archive, archive: {{cluster: primary, locations: {{data: "/old/{self.layout}"}}}}'
        retention = f", retention: {{limit: days(2){archive if self.archives else ''}}}}}]"
        text = feed.read_text().replace("${YEAR}-${MONTH}-${DAY}-${HOUR}", self.layout)
        feed.write_text(text.replace("}]", retention) + self.more)
        self.end.system.mkdirs(self.end.at("old"))

    def fill(self, *keys: str) -> None:
        """Let instances of the input be there."""
        places = [f"clicks/{key[:10]}-{key[11:13]}" for key in keys]
        self.end.fill({f"{place}/{name}": b"" for place in places for name in ("part-0", "_SUCCESS")})

    def at(self, key: str = KEY, top: str = "counts") -> str:
        """The directory of an instance, or of its archived copy, below the directory of all data."""
        names = {"YEAR": key[:4], "MONTH": key[5:7], "DAY": key[8:10], "HOUR": key[11:13]}
        name = self.layout
        for each, value in names.items():
            name = name.replace(f"${{{each}}}", value)
        return f"{top}/{name}"

    def process(
        self, between: Callable[[int], None] = lambda _: None, *, key: str = KEY, text: str = "new", into: str = ""
    ) -> ProcessResult:
        """A forced run of an instance, which writes the output's instance of its own time, or of another one."""
        writer = PartWriter(end=self.end, place=self.at(into or key), text=text, between=between)
        own = ProcessOptions(selection=ProcessSelection(name="count", cluster=None), is_forced=True)
        requested = self._options(NO_FEED, parse_instant(key))
        return run_processes(own, requested, SystemClock(), NeverStopped(), NoProgress(), {Engine.COMMAND: writer})

    def evict(self, feed: str = "counts") -> RetentionResult:
        """A run of retention."""
        chosen = EntitySelection(names=(feed,))
        return evict(self._options(chosen, LATER), SystemClock(), NeverStopped(), NoProgress())

    def _options(self, selection: EntitySelection, nominal: datetime) -> ActionOptions:
        return ActionOptions(
            selection=selection,
            repo=RepoRequest(config_repo=str(self.directory / "repo"), variables=os.environ),
            nominal_time=nominal,
            dry_run=False,
            allow_dirty=False,
        )

    @contextlib.contextmanager
    def half_written(self, key: str = KEY) -> Iterator[Future[ProcessResult]]:
        """A run of the process rests after its first part while the body works; it has ended when the body is over."""
        is_half, may_go_on = threading.Event(), threading.Event()

        def between(part: int) -> None:
            if part == 1:
                is_half.set()
                assert may_go_on.wait(_SECONDS)

        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.process, between, key=key)
            assert is_half.wait(_SECONDS), running.result(1)
            try:
                yield running
            finally:
                may_go_on.set()
                running.result(_SECONDS)

    def seen(self, top: str = "counts", key: str = KEY) -> dict[str, str]:
        """The files of an instance."""
        return self.files(self.at(key, top))

    def files(self, place: str) -> dict[str, str]:
        """The files of a directory below that of all data."""
        found = self.end.files(place, hidden=True)
        return {name.removeprefix(f"{place}/"): text.decode() for name, text in found.items()}

    def events(self, key: str = KEY) -> list[tuple[str, int]]:
        """Return the events of the instance and the run of each, read from the database file."""
        with contextlib.closing(sqlite3.connect(self.directory / "ledger.db")) as ledger:
            requested = "SELECT kind, run_id FROM event WHERE feed = 'counts' AND instance_key = ? ORDER BY sequence"
            return [(str(kind), int(run)) for kind, run in ledger.execute(requested, (key,))]


def whole(text: str) -> dict[str, str]:
    """The files of a complete instance: the oracle of all tests here."""
    return {"_SUCCESS": "", **{f"part-{each}": f"{text} {each}\n" for each in range(PARTS)}}
