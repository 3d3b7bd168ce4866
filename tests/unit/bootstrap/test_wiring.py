"""The wiring of every action only reads: the ledger gets nothing before the action's envelope is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from entrypoints import hive_export, hive_import, hive_replication, late_check, process, replication, retention
from toolkit.bootstrap import action_context
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.errors import Unavailable
from toolkit.ledger.database import Ledger

_VALIDITY = "validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}"
_SOURCE = f"{{name: primary, type: source, {_VALIDITY}, retention: {{limit: days(1)}}}}"
_ENDS = f"[{_SOURCE}, {{name: backup, type: target, {_VALIDITY}}}]"
_CLUSTER = (
    "kind: cluster\nname: {name}\ninterfaces:\n  write: {{endpoint: file:///}}\n"
    "  registry: {{endpoint: thrift://127.0.0.1:1}}\n"
)
_FILES = {
    "repo.yaml": "name: r\nledger: sqlite:///.feedctl/ledger.db\n",
    "clusters/primary.yaml": _CLUSTER.format(name="primary"),
    "clusters/backup.yaml": _CLUSTER.format(name="backup"),
    "feeds/clicks.yaml": (
        f"kind: feed\nname: clicks\nfrequency: hours(1)\navailability_flag: _SUCCESS\nclusters: {_ENDS}\n"
        "locations: {data: '/nowhere/${cluster.name}/${YEAR}-${MONTH}-${DAY}-${HOUR}'}\n"
    ),
    "feeds/visits.yaml": (
        f"kind: feed\nname: visits\nfrequency: days(1)\nclusters: {_ENDS}\n"
        "table: 'catalog:logs:visits#ds=${YEAR}-${MONTH}-${DAY}'\n"
    ),
    "processes/job.yaml": (
        f"kind: process\nname: job\nfrequency: hours(1)\nclusters: [{{name: primary, {_VALIDITY}}}]\n"
        "inputs: {in: {feed: clicks, start: 'now(-1,0)', end: 'now(-1,0)'}}\n"
        "outputs: {out: {feed: clicks, instance: 'now(0,0)'}}\n"
        "late_process: {policy: final, inputs: {in: workflows/job.sh}}\n"
        "workflow: {engine: command, path: workflows/job.sh}\n"
    ),
    "workflows/job.sh": "#!/bin/sh\n",
}
_TABLE = ("--feed", "visits", "--time", "2026-03-02T00:00Z")
_PROCESS = ("--process", "job", "--time", "2026-03-02T00:00Z")


class Reached(Unavailable):
    """The envelope is about to be opened."""


@pytest.mark.parametrize(
    ("app", "arguments"),
    [
        (retention.app, ("--feed", "clicks", "--cluster", "primary", "--time", "2026-03-03T00:00Z")),
        (replication.app, ("--feed", "clicks", "--target", "backup", "--time", "2026-03-02T00:00Z")),
        (hive_export.app, (*_TABLE, "--cluster", "primary", "--to", "file:///nowhere/exports")),
        (hive_import.app, (*_TABLE, "--cluster", "backup", "--from", "file:///nowhere/exports")),
        (hive_replication.app, (*_TABLE, "--target", "backup")),
        (process.app, _PROCESS),
        (process.app, (*_PROCESS, "--due")),
        (late_check.app, (*_PROCESS, "--due")),
    ],
)
def test_the_ledger_gets_nothing_before_the_envelope_of_an_action_is_open(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    app: typer.Typer,
    arguments: Sequence[str],
) -> None:
    for name, text in _FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    repo = ("--config-repo", str(tmp_path))
    assert main(["ledger", "upgrade", *repo]) == 0
    written, reached = list[object](), list[object]()

    def write(_: Ledger, work: Any) -> None:  # noqa: ANN401 - whatever is written
        written.append(work)

    def refuse(enveloped: object) -> None:
        reached.append(enveloped)
        raise Reached

    monkeypatch.setattr(Ledger, "write", write)
    monkeypatch.setattr(action_context, "opened_envelope", refuse)
    monkeypatch.setenv("FEEDCTL_LOG_DIR", str(tmp_path / "logs"))
    code = run_app(app, [*arguments, *repo])
    assert (written, len(reached)) == ([], 1), code
