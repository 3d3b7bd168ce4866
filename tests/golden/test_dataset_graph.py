"""The graph of datasets in each of its formats, as it was when the record was made.

`FEEDCTL_WRITE_GOLDEN=1` writes the record anew; what then differs is a change of what users build on.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.described import faults
from toolkit.cli.main import main
from toolkit.rendering.document_schemas import DocumentName

RECORD = Path(__file__).parent / "records" / "dataset_graph.json"
VALIDITY = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
TIME = ("--time", "2026-03-20T01:30Z")
FILES = {
    "repo.yaml": """\
name: golden
datasets:
  - {uri: "s3a://shop/prices/?b=2&a=1", owner: shop@example.com, description: "prices, \\"net\\""}
""",
    "clusters/primary.yaml": "kind: cluster\nname: primary\ninterfaces: {write: {endpoint: 'hdfs://nn:8020'}}\n",
    "clusters/backup.yaml": "kind: cluster\nname: backup\ninterfaces: {write: {endpoint: 'hdfs://other:8020'}}\n",
    "feeds/clicks.yaml": f"""\
kind: feed
name: clicks
frequency: hours(1)
external: true
locations: {{data: "/clicks/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"}}
clusters: [{{name: primary, type: source, {VALIDITY}}}, {{name: backup, type: target, {VALIDITY}}}]
""",
    "feeds/sums.yaml": f"""\
kind: feed
name: sums
frequency: days(1)
table: "catalog:web:sums#ds=${{YEAR}}-${{MONTH}}-${{DAY}}"
clusters: [{{name: primary, {VALIDITY}}}]
""",
    "feeds/lonely.yaml": f"""\
kind: feed
name: lonely
frequency: days(1)
locations: {{data: "/lonely/${{YEAR}}-${{MONTH}}-${{DAY}}"}}
clusters: [{{name: primary, {VALIDITY}}}]
""",
    "processes/sum.yaml": f"""\
kind: process
name: sum
frequency: days(1)
clusters: [{{name: primary, {VALIDITY}}}]
inputs: {{clicks: {{feed: clicks, start: "today(-24,0)", end: "today(-1,0)"}}}}
outputs: {{sums: {{feed: sums, instance: "today(0,0)"}}}}
outlets: ["https://host/it's;#1?q=(a)"]
schedule: and
trigger: {{all: [clicks]}}
workflow: {{engine: command, path: a.sh}}
""",
    "processes/report.yaml": f"""\
kind: process
name: report
frequency: days(1)
clusters: [{{name: primary, {VALIDITY}}}]
inlets: [my-dataset]
schedule: never
trigger: {{any: [{{feed: sums}}, "s3://shop/*"]}}
workflow: {{engine: command, path: a.sh}}
""",
}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {**FILES, "a.sh": "exit 0\n"}.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("FEEDCTL_REPO", str(tmp_path))
    return tmp_path


def test_the_graph_is_printed_as_before(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FEEDCTL_LEDGER", raising=False)
    printed: dict[str, object] = {}
    for form in ("text", "mermaid", "dot", "json"):
        assert main(["dataset", "graph", "--format", form, *TIME]) == 0
        printed[form] = capsys.readouterr().out.splitlines()
    assert main(["dataset", "list", *TIME]) == 0
    printed["list"] = capsys.readouterr().out.splitlines()
    lines = printed["json"]
    assert isinstance(lines, list)
    printed["json"] = json.loads("\n".join(lines))
    assert faults(printed["json"], DocumentName.DATASET, "graph", strict=True) == []
    if os.environ.get("FEEDCTL_WRITE_GOLDEN"):
        RECORD.write_text(json.dumps(printed, indent=1, ensure_ascii=False) + "\n")
    assert printed == json.loads(RECORD.read_text())
    assert repo.joinpath("repo.yaml").exists()
