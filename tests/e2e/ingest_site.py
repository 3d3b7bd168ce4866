"""A config repo with a feed, a directory of records and a table in a file; and runs of the ingest over them.

`python -m tests.e2e.ingest_site ROOT AFTER POINT NUMBER` is a run that kills itself at a point; without one it pauses.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

from tests.unit.ingest_job.fake_table import FakeTable
from tests.unit.ingest_job.killed_run import Killer
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionContext, ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.ingest import FeedIngest, IngestOptions, directory_source, ingest
from toolkit.cli.action_command import ActionCommand
from toolkit.clock import Clock
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Cluster, Feed
from toolkit.ingest_job.targets import NAME, CommitLimits
from toolkit.rendering.ingest import INGEST_VIEW
from toolkit.rendering.tables import ResultFormat

TIME = "2026-03-20T12:00Z"
CLUSTER = """\
kind: cluster
name: primary
interfaces: {{write: {{endpoint: "file://{root}"}}}}
locations: {{working: /working}}
"""
FEED = """\
kind: feed
name: clicks
frequency: days(1)
late_arrival: {cut_off: days(2)}
table: "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}"
clusters:
  - name: primary
    validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}
"""


@dataclass(kw_only=True)
class IngestSite:
    """The site, and runs of it in this process."""

    root: Path
    after: str = "keep"
    rejects_bad: bool = False
    rows: int = 100_000
    own: IngestOptions = field(default_factory=IngestOptions)
    point: Callable[[str], None] = lambda _: None
    table: FakeTable = field(init=False)

    def __post_init__(self) -> None:
        self.table = FakeTable(path=self.root / "table.json", point=self.point)

    @classmethod
    def make(cls, root: Path, *, after: str = "keep", rows: int = 100_000) -> IngestSite:
        """Write repo and directories."""
        documents = {
            "repo/repo.yaml": f"name: ingest\nledger: sqlite:///{root}/ledger.db\n",
            "repo/clusters/primary.yaml": CLUSTER.format(root=root),
            "repo/feeds/clicks.yaml": FEED,
            "inbox/.keep": "",
        }
        for name, text in documents.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return cls(root=root, after=after, rows=rows)

    @property
    def inbox(self) -> list[str]:
        """Return the names of the files that are there."""
        return sorted(each.name for each in (self.root / "inbox").glob("*.json"))

    def put(self, name: str, *lines: bytes) -> None:
        """Write a file of the source, an hour old."""
        path = self.root / "inbox" / name
        path.write_bytes(b"".join(lines))
        os.utime(path, (path.stat().st_mtime - 3600,) * 2)

    def write(self, name: str, text: str) -> None:
        """Write a file of the config repo."""
        (self.root / "repo" / name).write_text(text)

    def run(self, *, dry_run: bool = False, form: ResultFormat = ResultFormat.JSON) -> int:
        """Run, print the result, and return the exit code."""
        command = ActionCommand(
            name=NAME, run=partial(ingest, self.own, setup=self._setup), view=INGEST_VIEW, form=form, file=None
        )
        options = ActionOptions(
            selection=EntitySelection(names=("clicks",)),
            repo=RepoRequest(config_repo=str(self.root / "repo"), variables=dict(os.environ)),
            nominal_time=parse_instant(TIME),
            dry_run=dry_run,
            allow_dirty=False,
        )
        return command.execute(options)

    def _setup(self, context: ActionContext, clock: Clock, feed: Feed, cluster: Cluster) -> FeedIngest:
        del context, feed, cluster
        inbox = CanonicalPath.parse(f"file://{self.root}/inbox")
        archive = CanonicalPath.parse(f"file://{self.root}/archive")
        return FeedIngest(
            table=self.table,
            event_time="ts",
            source=directory_source(
                inbox,
                "*.json",
                timedelta(seconds=1),
                clock,
                after=self.after,
                archive=archive if self.after == "archive" else None,
                most_bytes=1 << 20,
            ),
            directory=inbox,
            limits=CommitLimits(rows=self.rows),
            rejects_bad=self.rejects_bad,
            after=self.after,
        )


def _wait(root: Path, point: str) -> None:
    """Pause in a commit until the other run is over."""
    if point == "in commit":
        (root / "paused").touch()
        while not (root / "go").exists():
            pass


if __name__ == "__main__":
    place = Path(sys.argv[1])
    stop: Callable[[str], None] = partial(_wait, place)
    if len(sys.argv) > 3:
        stop = Killer(sys.argv[3], int(sys.argv[4]))
    sys.exit(IngestSite(root=place, after=sys.argv[2], rows=7, point=stop).run())
