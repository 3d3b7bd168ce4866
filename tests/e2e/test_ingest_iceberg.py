"""The ingest entrypoint on a real Iceberg table, as its own process where a process matters."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.iceberg import open_catalog

ENTRYPOINT = Path(__file__).parents[2] / "entrypoints" / "ingest.py"
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

    @classmethod
    def make(cls, root: Path) -> IngestRepo:
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
        address = CatalogAddress(type="sql", uri=f"sqlite:///{self.root}/catalog.db", warehouse="", name="feedctl")
        catalog = open_catalog(address)
        try:
            rows = catalog.catalog.load_table(("web", "clicks")).scan(selected_fields=("word", "ds")).to_arrow()
        finally:
            catalog.close()
        return Counter(rows["word"].to_pylist())

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a run."""
        command = [sys.executable, str(ENTRYPOINT), "--config-repo", str(self.root / "repo"), "--feed", "clicks"]
        return subprocess.Popen(
            [*command, "--time", TIME, "--output", "json", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *options: str, given: bytes = b"") -> dict[str, object]:
        """Run to the end; returns the result, with the exit code as ``exit``."""
        with self.start(*options) as process:
            out, err = process.communicate(given, timeout=120)
        assert out, err.decode()
        return {**json.loads(out), "exit": process.returncode}


def test_files_are_committed_once_and_put_away(tmp_path: Path) -> None:
    repo = IngestRepo.make(tmp_path)
    repo.put("a.json", ["x", "y", "z"])
    with (tmp_path / "inbox" / "a.json").open("a") as file:
        file.write("{broken\n")
    os.utime(tmp_path / "inbox" / "a.json", (time.time() - 3600,) * 2)
    assert repo.run("--dry-run")["exit"] == 0
    assert not (tmp_path / "warehouse").exists()
    assert repo.run()["exit"] == 0
    assert (repo.words, list((tmp_path / "inbox").iterdir())) == (Counter("xyz"), [])
    reject = next((tmp_path / "working/rejects/clicks").iterdir()).read_text()
    assert json.loads(reject)["record"] == "{broken"
    again = repo.run()
    assert (again["exit"], again["items"]) == (0, [])
    given = b'{"ts": "2026-03-20T05:00:00Z", "word": "w"}\n'
    assert repo.run("--stdin", given=given)["exit"] == 0
    assert repo.words == Counter("wxyz")


@pytest.mark.extended
@pytest.mark.slow
def test_runs_that_are_killed_leave_each_record_in_the_table_once(tmp_path: Path) -> None:
    repo, seed = IngestRepo.make(tmp_path), int(os.environ.get("FEEDCTL_SEED", random.randrange(1 << 30)))  # noqa: S311 - no secret
    print(f"seed {seed}")  # noqa: T201 - to repeat it
    chance, expected = random.Random(seed), [f"word{at}" for at in range(600)]  # noqa: S311 - no secret
    for at in range(0, 600, 30):
        repo.put(f"{at:03}.json", expected[at : at + 30])
    for _ in range(5):
        with repo.start() as process:
            time.sleep(chance.uniform(1.0, 4.0))
            process.send_signal(signal.SIGKILL)
            process.communicate()
    for _ in range(3):
        if repo.run()["exit"] == 0:
            break
    assert repo.words == Counter(expected)
    assert list((tmp_path / "inbox").iterdir()) == []
    assert len(list((tmp_path / "archive").iterdir())) == 20
