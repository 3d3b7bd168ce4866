"""A config repo with a feed that is ingested to a real Iceberg table, and runs of its entrypoints as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import typer
from typing_extensions import override

from toolkit.cli.boundary import run_app
from toolkit.cli.compact import compact
from toolkit.cli.ingest import ingest
from toolkit.cli.retention import retention
from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.iceberg import IcebergCatalog, open_catalog

ENTRYPOINTS = Path(__file__).parents[2] / "entrypoints"
SPARK_SUBMIT = str(Path(sys.executable).parent / "spark-submit")
_COMMANDS = {"ingest": ingest, "compact": compact, "retention": retention}
TIME = "2026-03-20T12:00Z"
FEED = """\
kind: feed
name: clicks
frequency: hours(1)
table: "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"
clusters:
  - name: primary
    validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}
    ingest:
      source: {directory: /inbox, pattern: "*.json"}
      format: {type: json}
      columns: [{name: ts, type: timestamp, required: true}, {name: word, type: string}]
      event_time: ts
      commit: {rows: 20}
      after: archive
      archive: /archive
      on_bad_record: reject
"""


@dataclass(frozen=True, kw_only=True)
class IngestRepo:
    """A config repo with one feed, its files and its catalog, below one directory."""

    root: Path
    master: str = ""
    submit_options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, root: Path) -> Self:
        """Write the repo."""
        documents = {
            "repo.yaml": f"name: ingest\nledger: sqlite:///{root}/ledger.db\n",
            "clusters/primary.yaml": (
                f"kind: cluster\nname: primary\nlocations: {{working: /working}}\ninterfaces:\n"
                f'  write: {{endpoint: "file://{root}"}}\n'
                f'  iceberg: {{type: sql, uri: "sqlite:///{root}/catalog.db", warehouse: /warehouse}}\n'
            ),
            "feeds/clicks.yaml": FEED,
        }
        for name, text in documents.items():
            (root / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "repo" / name).write_text(text)
        (root / "inbox").mkdir()
        return cls(root=root)

    def put(self, name: str, words: list[str]) -> None:
        """Write a file of the source, an hour old; the rows belong to four instances."""
        path = self.root / "inbox" / name
        rows = ({"ts": f"2026-03-20T0{at % 4}:30:00Z", "word": word} for at, word in enumerate(words))
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        os.utime(path, (time.time() - 3600,) * 2)

    @property
    def words(self) -> Counter[str]:
        """Return the words that a reader of the table finds, with how often."""
        catalog = self.catalog()
        try:
            rows = catalog.catalog.load_table(("web", "clicks")).scan(selected_fields=("word", "ds")).to_arrow()
        finally:
            catalog.close()
        return Counter(rows["word"].to_pylist())

    def catalog(self) -> IcebergCatalog:
        """Open the catalog."""
        return open_catalog(
            CatalogAddress(type="sql", uri=f"sqlite:///{self.root}/catalog.db", warehouse="", name="feedctl")
        )

    def start(self, *options: str, action: str = "ingest", at: str = TIME) -> subprocess.Popen[bytes]:
        """Start a run; with a master of Spark by spark-submit."""
        script = str(ENTRYPOINTS / f"{action}.py")
        starter = [sys.executable] if not self.master else [SPARK_SUBMIT, "--master", self.master, *self.submit_options]
        command = [*starter, script, "--config-repo", str(self.root / "repo"), "--feed", "clicks"]
        return subprocess.Popen(
            [*command, "--time", at, "--output", "json", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **self.environment},
            start_new_session=True,
        )

    def run(self, *options: str, given: bytes = b"", action: str = "ingest", at: str = TIME) -> dict[str, Any]:
        """Run to the end; returns the result, with the exit code as ``exit``."""
        with self.start(*options, action=action, at=at) as process:
            out, err = process.communicate(given, timeout=300)
        assert out, err.decode()
        return {**json.loads(out), "exit": process.returncode}


class QuickRepo(IngestRepo):
    """A repo whose entrypoints run in this process, for speed, unless spark-submit or standard input is wanted."""

    @override
    def run(self, *options: str, given: bytes = b"", action: str = "ingest", at: str = TIME) -> dict[str, Any]:
        if self.master or given:
            return super().run(*options, given=given, action=action, at=at)
        app = typer.Typer(add_completion=False)
        app.command()(_COMMANDS[action])
        out = self.root / "result.json"
        out.unlink(missing_ok=True)
        where = ("--config-repo", str(self.root / "repo"), "--feed", "clicks", "--result-file", str(out))
        code = run_app(app, [*where, "--time", at, *options])
        return {**(json.loads(out.read_text()) if out.exists() else {}), "exit": code}
