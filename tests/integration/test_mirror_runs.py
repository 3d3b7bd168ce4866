"""Runs of a snapshot mirror by its entrypoints: dry, real, due, refused, killed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.described import faults
from tests.integration.mirror_runs import FEED_IN_TARGET, MirrorRuns
from tests.testbed.hdfs import HdfsCluster
from toolkit.actions.file_copies import FileCopies
from toolkit.cli.main import main
from toolkit.rendering.document_schemas import DocumentName
from toolkit.transfer.plan import Copied
from toolkit.transfer.trees import below

_FILES = {"a/f": "f", "a/g": "g", "deep/in/h é": "h", "stays": "stays"}


@pytest.fixture
def sales(hdfs: HdfsCluster, tmp_path: Path) -> MirrorRuns:
    """A mirror with four files at the source."""
    runs = MirrorRuns(hdfs=hdfs, directory=tmp_path)
    runs.write()
    runs.fill(_FILES)
    return runs


def _change(sales: MirrorRuns) -> None:
    sales.system.rename(below(sales.source, "deep"), below(sales.source, "moved"))
    sales.system.delete(below(sales.source, "a"), below=sales.source)
    sales.fill({"new/x": "fresh", "stays": "longer"})


def test_a_mirror_is_planned_run_and_run_again_by_both_entrypoints(sales: MirrorRuns) -> None:
    code, result = sales.run(0, "--dry-run")
    assert (code, len(result["instances"][0]["mirror"]["actions"])) == (0, 7)  # four files and three directories
    assert (sales.names(sales.source), sales.tree(sales.target)) == ([], {})
    code, result = sales.run(0)
    assert (code, result["status"]) == (0, "succeeded")
    assert {name: result["instances"][0]["counters"][name] for name in ("COPY", "BYTESCOPIED")} == {
        "COPY": 4,
        "BYTESCOPIED": 8,
    }
    _change(sales)
    code, result = sales.run(1, "--dry-run")
    actions = {(each["action"], each["path"]) for each in result["instances"][0]["mirror"]["actions"]}
    assert {("rename", "moved"), ("remove", "a"), ("copy", "new/x"), ("mkdir", "new")} <= actions
    assert faults(result, DocumentName.PROCESS_RUN, "result", strict=True) == []
    code, result = sales.run_due(1)
    counted = result["instances"][0]["counters"]
    assert (code, counted["RENAMES"], counted["COPY"], counted["DELETES"]) == (0, 1, 2, 1)
    wanted = sales.tree(sales.source)
    assert sales.tree(sales.target) == sales.tree(sales.target, "feedctl.mirroring.sales.2026-03-01T0100Z") == wanted
    assert sales.tree(sales.target, "feedctl.mirroring.sales.2026-03-01T0000Z") == {
        **_FILES,
        "a": None,
        "deep": None,
        "deep/in": None,
    }
    assert sales.run(1)[1]["items"] == []
    assert faults(result, DocumentName.PROCESS_RUN, "result", strict=True) == []
    assert sales.run(2)[1]["status"] == "succeeded"  # nothing has changed, so that nothing is announced
    dataset = str(sales.target).replace(str(sales.hdfs.webhdfs), sales.hdfs.uri)
    assert sales.events() == [(dataset, "2026-03-01T00:00Z"), (dataset, "2026-03-01T01:00Z")]


def test_a_repo_without_a_name_is_refused_before_anything_is_made(hdfs: HdfsCluster, tmp_path: Path) -> None:
    sales = MirrorRuns(hdfs=hdfs, directory=tmp_path)
    sales.write()
    settings = tmp_path / "repo/repo.yaml"
    settings.write_text(settings.read_text().replace("name: mirroring\n", ""))
    code, result = sales.run(0)
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "invalid")
    assert "needs a `name` in repo.yaml" in result["instances"][0]["failure"]["message"]
    assert sales.names(sales.source) == []


@pytest.mark.extended
def test_a_hold_that_is_set_while_files_are_copied_stops_the_mirror_before_it_publishes(
    sales: MirrorRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sales.run(0)[0] == 0
    _change(sales)
    (tmp := sales.directory / "repo/feeds").mkdir()
    (tmp / "parts.yaml").write_text(FEED_IN_TARGET.format(target=sales.target.path))
    before, names, copy = sales.tree(sales.target), sales.names(sales.target), FileCopies.copy

    def copied_and_held(*arguments: Any, **options: Any) -> list[Copied]:  # noqa: ANN401
        sales.system.write(below(sales.target, "a/.feedctl-hold"), [b"a lawsuit"])
        return copy(*arguments, **options)

    monkeypatch.setattr(FileCopies, "copy", copied_and_held)
    code, result = sales.run(1)
    assert (code, result["instances"][0]["waiting"]["code"]) == (75, "held")
    sales.system.delete(below(sales.target, "a/.feedctl-hold"), below=sales.target)
    found = {name: text for name, text in sales.tree(sales.target).items() if ".feedctl" not in name}
    assert (found, sales.names(sales.target)) == (before, names)
    code, result = sales.run(1)
    counted = result["instances"][0]["counters"]
    assert (code, counted["COPY"], counted["COPYREUSED"]) == (0, 0, 2)
    assert sales.tree(sales.target) == sales.tree(sales.source)


def test_a_verification_reads_both_sides(sales: MirrorRuns, capsys: pytest.CaptureFixture[str]) -> None:
    assert sales.run(0)[0] == 0
    file = below(sales.target, "stays")
    for content, code, verdicts in ((None, 0, []), (b"STAYS", 4, ["different"])):
        if content is not None:
            sales.system.delete(file, below=sales.target)
            sales.system.write(file, [content])
        capsys.readouterr()
        assert main(["verify", "--mirror", "sales", *sales.repo, "--output", "json"]) == code
        found = json.loads(capsys.readouterr().out)
        assert (found["files"], found["instances"][0]["instance"]) == (4, "2026-03-01T00:00Z")
        assert [each["verdict"] for each in found["instances"][0]["differences"]] == verdicts
        assert faults(found, DocumentName.VERIFY, "verification", strict=True) == []


def test_a_run_that_would_remove_too_much_changes_nothing(sales: MirrorRuns) -> None:
    assert sales.run(0)[0] == 0
    _change(sales)
    sales.write(settings="max_delete: {instances: 2}\n", snapshots=False)
    before = sales.tree(sales.target)
    code, result = sales.run(1, "--dry-run")
    assert (code, result["items"][0]["code"]) == (3, "refused")
    code, result = sales.run(1)
    assert (code, result["items"][0]["code"]) == (1, "refused")
    assert "would remove 3 of 8 files and directories" in result["items"][0]["message"]
    assert sales.tree(sales.target) == before
    digest = re.findall(r"--approve ([0-9a-f]{64})", result["items"][0]["message"])[0]
    assert sales.run(1, "--approve", "0" * 64)[1]["items"][0]["code"] == "refused"
    assert sales.run(1, "--approve", digest)[0] == 0
    assert sales.tree(sales.target) == sales.tree(sales.source)


def test_a_changed_target_is_refused(sales: MirrorRuns) -> None:
    assert sales.run(0)[0] == 0
    sales.system.write(below(sales.target, "foreign"), [b""])
    code, result = sales.run(1)
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "mirror_target_changed")
    assert sales.names(sales.source) == ["feedctl.mirroring.sales.2026-03-01T0000Z"]


def test_a_directory_without_snapshots_is_refused_and_doctor_has_the_command(
    hdfs: HdfsCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sales = MirrorRuns(hdfs=hdfs, directory=tmp_path)
    sales.write(snapshots=False)
    code, result = sales.run(0)
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "not_snapshottable")
    capsys.readouterr()
    main(["doctor", *sales.repo, "--output", "json"])
    printed = capsys.readouterr().out
    for directory in (sales.source, sales.target):
        assert f"hdfs dfsadmin -allowSnapshot {directory.path}" in printed
