"""Tests of what held when about 250 attacks were tried, and still has to hold; by name.

Against the author of a pull request, the maker of an archive, and who may write into a data folder. What is tested
where the code is tested stands in the table; what is not has a test of its own below it.

================================================  =====================================================================
what must not happen                              the test
================================================  =====================================================================
an archive writes outside of itself               tests/unit/config_source/test_archive.py::test_a_name_that_leads_outside_is_refused
an archive's link is followed                     tests/unit/config_source/test_archive.py::test_a_link_in_an_archive_is_a_problem
an archive says two things by one name            tests/unit/config_source/test_archive.py::test_a_name_that_is_there_twice_is_refused
an archive expands without end                    tests/unit/config_source/test_archive.py::test_an_archive_that_expands_without_end_is_refused
YAML aliases, depth, tags, encodings              tests/unit/entities/test_yaml_loading.py::test_what_is_no_plain_yaml_mapping_is_one_problem_with_its_place
``..`` and NUL in a path                          tests/unit/el/test_canonical_path.py::test_what_cannot_be_resolved_is_an_error
a child with a slash, or that is ``..``           tests/unit/el/test_canonical_path.py::test_a_child_is_one_name
a deletion outside of its base                    tests/unit/storage/test_bounds.py::test_everything_else_is_refused
a deletion by a path that climbs                  tests/unit/storage/test_local.py::test_a_path_that_climbs_is_outside_the_base
a link below an instance is followed              tests/unit/storage/test_local.py::test_a_link_inside_a_removed_tree_goes_and_its_target_stays
a link below the base is followed                 tests/unit/storage/test_local.py::test_no_link_below_the_base_is_followed
a link in the place of an instance is followed    tests/unit/retention/test_run.py::test_links_are_neither_followed_nor_removed_and_are_named
another disk below an instance is emptied         tests/unit/storage/test_local.py::test_what_is_mounted_inside_an_instance_is_left_alone
a ref is an option of git                         tests/unit/config_source/test_commit.py::test_an_unknown_commit_says_so
a base is an option of git                        tests/unit/config_source/test_base.py::test_a_base_that_is_not_there_is_named
a hook's variables lead git elsewhere             tests/unit/config_source/test_commit.py::test_the_variables_of_a_hook_do_not_lead_elsewhere
a link in a commit is followed                    tests/unit/config_source/test_commit.py::test_a_link_in_a_commit_is_a_problem
SARIF that is none                                tests/unit/linter/test_seeded.py::test_sarif_is_valid_by_its_published_schema
markup in markdown                                tests/unit/rendering/test_markdown.py::test_escaped_text_has_no_markup_and_reads_the_same
a cell that breaks a table in markdown            tests/unit/rendering/test_markdown.py::test_a_row_has_as_many_cells_as_there_are_texts
a name in a result forges a line                  tests/unit/rendering/test_retention.py::test_a_name_can_forge_no_line_and_send_nothing_to_the_terminal
a pipe for configuration hangs                    tests/unit/config_source/test_directory.py::test_what_is_no_file_in_the_place_of_configuration_is_a_problem
a pipe for a config repo hangs                    tests/unit/config_source/test_opening.py::test_a_pipe_is_no_config_repo
a pipe or a device for an audit file              tests/unit/runs/test_audit.py::test_what_is_no_file_is_no_audit_file
================================================  =====================================================================
"""  # noqa: E501 - a node id stands on one line

from __future__ import annotations

import ast
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.unit.config_source.checkouts import REPO, checkout, write
from tests.unit.rendering.lint_reports import FINDING, report
from toolkit.config_source import from_directory
from toolkit.config_source.errors import NoCommit
from toolkit.config_source.git import read_commit
from toolkit.el import CanonicalPath
from toolkit.ledger.database import Ledger
from toolkit.ledger.state.holds import NewHold, add
from toolkit.ledger.tables import hold
from toolkit.linter.rules import RULES
from toolkit.rendering.lint_formats import lint_sarif

ROOT = Path(__file__).parents[2]
NODE_IDS = re.findall(r"(tests/\S+\.py)::(\w+)", __doc__)


def test_the_table_names_tests() -> None:
    assert len(NODE_IDS) == __doc__.count("::test_") == len(set(NODE_IDS))


@pytest.mark.parametrize(("file", "name"), NODE_IDS)
def test_what_the_table_names_is_there(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    assert name in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


@pytest.mark.parametrize("name", ["%2e%2e", "..%2f..", "..\\..", "\uff0e\uff0e", "\u2025", "%00", "..;", "... "])
def test_only_two_dots_are_two_dots(name: str) -> None:
    path = CanonicalPath.parse(f"/data/{name}/x", "file:///")
    assert path.path == f"/data/{name}/x"
    assert path.is_within(CanonicalPath.parse("/data", "file:///"))


@pytest.mark.parametrize("text", ["'; DROP TABLE hold; --", '" OR 1=1 --', "%s :x ${y} {z}", "\\'; SELECT 1"])
def test_sql_in_a_value_is_a_value(text: str, sqlite_ledger: Ledger) -> None:
    requested = NewHold(feed=text, cluster=text, start_key=text, end_key=text, reason=text, owner=text)
    sqlite_ledger.write(lambda tx: add(tx, requested, text))
    (row,) = sqlite_ledger.read(lambda tx: tx.execute(sa.select(hold)).mappings().all())
    assert {row[each] for each in ("feed", "cluster", "reason", "owner", "added_by")} == {text}


@pytest.mark.parametrize("ref", ["--output=FILE", "-O", "--upload-pack=touch FILE", "--exec=touch FILE", "@{-1}", ":/"])
def test_a_ref_makes_git_do_nothing_else(ref: str, tmp_path: Path) -> None:
    root = checkout(tmp_path / "repo")
    made = tmp_path / "made"
    with pytest.raises(NoCommit):
        read_commit(root, ref.replace("FILE", str(made)))
    assert not made.exists()
    assert sorted(each.name for each in root.iterdir()) == [".git", "feeds", "repo.yaml", "workflows"]


@pytest.mark.parametrize("text", ["https://evil.example.com/x", "//host/x", "a?b#c", "a b\"'<>\n", "javascript:x"])
def test_a_file_name_in_sarif_is_a_path_and_nothing_else(text: str) -> None:
    log = json.loads(lint_sarif(report(replace(FINDING, file=f"feeds/{text}")), RULES))
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"feeds/(?:[A-Za-z0-9_.~/-]|%[0-9A-F]{2})*", uri)


@pytest.mark.parametrize("name", ["holds.yaml", "repo.yaml", "feeds/clicks.yaml"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_for_a_file_of_the_repo_does_not_hang(name: str, linked: bool, tmp_path: Path) -> None:  # noqa: FBT001
    root = write(tmp_path / "repo", REPO)
    place = root / name
    place.unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe" if linked else place)
    if linked:
        place.symlink_to(tmp_path / "pipe")
    snapshot = from_directory(root)
    assert name in {each.file for each in snapshot.problems}
    assert name not in snapshot.files
