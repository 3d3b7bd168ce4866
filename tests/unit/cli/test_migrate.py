"""`feedctl migrate falcon`: its reports, its exit codes, and that a dry run writes nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.described import printed_faults
from tests.unit.cli.running import Feedctl
from tests.unit.migration.migrated import EXAMPLES, ONE_OF_EACH_NAME

GOLDEN = Path(__file__).parents[1] / "migration" / "golden"
XML = [str(each) for each in ONE_OF_EACH_NAME]


def same_as_golden(text: str, name: str) -> bool:
    """Return whether a text is that of a file; FEEDCTL_WRITE_GOLDEN=1 writes it anew."""
    file = GOLDEN / name
    if os.environ.get("FEEDCTL_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return text == file.read_text(encoding="utf-8")


def test_the_report_of_falcons_examples(feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, "xml")
    ran = feedctl("migrate", "falcon", *(f"xml/{Path(each).name}" for each in XML), "--into", "repo")
    assert ran.code == 0
    assert same_as_golden(ran.out, "report.txt")


def test_every_report_has_the_same_rows(feedctl: Feedctl, tmp_path: Path) -> None:
    arguments = ("migrate", "falcon", *XML, "--into", str(tmp_path / "repo"), "--dry-run", "--report")
    found = feedctl(*arguments, "json").document
    tables = [line for line in feedctl(*arguments, "markdown").out.splitlines() if line.startswith("| ")]
    listed = [*found["rows"], *found["tasks"], *found["accepted"]]
    headings = len({each["entity"] for each in found["rows"]}) + 2
    assert len(tables) - 2 * headings == len(listed)
    text = feedctl(*arguments, "text").out
    assert sum(line.startswith("  ") for line in text.splitlines()) == len(listed)


def test_what_is_to_do_comes_before_what_became_of_each_text(feedctl: Feedctl, tmp_path: Path) -> None:
    arguments = ("migrate", "falcon", *XML, "--into", str(tmp_path / "repo"), "--dry-run", "--report")
    keys = list(feedctl(*arguments, "json").document)
    assert max(map(keys.index, ("tasks", "accepted", "refused", "left_alone"))) < keys.index("rows")
    for form, to_do, carried in (("text", "to do:", "  carried:"), ("markdown", "## To do", "| carried |")):
        lines = feedctl(*arguments, form).out.splitlines()
        rows = [number for number, line in enumerate(lines) if line.startswith(carried)]
        assert lines.index(to_do) < rows[0]
        assert not any(line.startswith(("findings", "## Findings")) for line in lines[rows[0] :])


def test_lint_accepts_what_was_written(feedctl: Feedctl, tmp_path: Path) -> None:
    assert feedctl("migrate", "falcon", *XML, "--into", str(tmp_path / "repo")).code == 0
    linted = feedctl("lint", "--config-repo", str(tmp_path / "repo"), "--format", "json")
    assert linted.code == 0
    assert {each["severity"] for each in linted.document["findings"]} <= {"info"}


def test_the_report_has_no_key_that_nobody_describes(feedctl: Feedctl, tmp_path: Path) -> None:
    arguments = ("migrate", "falcon", *XML, "--into", str(tmp_path / "repo"), "--report", "json")
    assert printed_faults(arguments, feedctl(*arguments).out, strict=True) == []


@pytest.mark.parametrize("process", ["pig-process", "hcat-pig-process", "oozie-mr-process"])
def test_a_command_is_told_only_what_its_instances_have(feedctl: Feedctl, tmp_path: Path, process: str) -> None:
    repo = str(tmp_path / "repo")
    feedctl("migrate", "falcon", *XML, "--into", repo)
    shown = feedctl("entity", "show", process, "--config-repo", repo, "--output", "json").document
    reported = set(re.findall(r"\$\{([^}]*)\}", json.dumps(shown["entity"]["workflow"]["args"])))
    requested = ("--time", "2013-11-15T00:10Z", "--config-repo", repo, "--output", "json")
    (instance,) = feedctl("instance", "params", process, *requested).document["instances"]
    assert reported - instance["properties"].keys() == set()


def test_a_dry_run_writes_nothing_and_says_the_same(feedctl: Feedctl, tmp_path: Path) -> None:
    arguments = ("migrate", "falcon", *XML, "--into", str(tmp_path / "repo"), "--report", "json")
    dry = feedctl(*arguments, "--dry-run")
    assert (dry.code, list(tmp_path.iterdir())) == (0, [])
    wet = feedctl(*arguments)
    assert {**dry.document, "written": True} == wet.document


def test_all_problems_are_said_with_exit_code_2(feedctl: Feedctl, tmp_path: Path) -> None:
    ran = feedctl("migrate", "falcon", str(EXAMPLES), "--into", str(tmp_path / "repo"))
    assert (ran.code, ran.out, list(tmp_path.iterdir())) == (2, "", [])
    assert "nothing was written, for 1 problem" in ran.err
    assert "standalone-cluster.xml:24:1: duplicate-name" in ran.err


def test_hostile_texts_drive_no_terminal(feedctl: Feedctl, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text('<cluster name="a&#133;b::error::\x7f" xmlns="uri:falcon:cluster:0.1"/>')
    ran = feedctl("migrate", "falcon", str(tmp_path / "a.xml"), "--into", str(tmp_path / "repo"))
    assert ran.code == 2
    assert ran.err.replace("\n", "").isprintable()
