"""The workflow that a config repo gets from the template runs what it names, and lends no token that it need not.

Against who moves the tag of an action, who publishes a package under the name of feedctl on an index, and against the
author of a pull request, whose files are in the checkout while the workflow runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

TEMPLATE = Path(__file__).parents[2] / "config_repo_template"
WORKFLOWS = sorted((TEMPLATE / ".github" / "workflows").glob("*.yml"))
_WRITING = {"comment": {"pull-requests": "write"}}
"""The only job that may write, and what."""


def _workflows() -> Iterator[dict[Any, Any]]:
    assert WORKFLOWS
    yield from (yaml.safe_load(file.read_text()) for file in WORKFLOWS)


def _jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for workflow in _workflows():
        yield from workflow["jobs"].items()


def _steps() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((name, step) for name, job in _jobs() for step in job["steps"])


def test_every_action_is_pinned_by_a_commit_and_says_which_version_that_is() -> None:
    uses = [line for file in WORKFLOWS for line in file.read_text().splitlines() if "uses:" in line]
    assert uses
    for line in uses:
        assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_feedctl_is_installed_from_an_address_with_a_digest_and_never_by_its_name() -> None:
    for workflow in _workflows():
        assert re.fullmatch(r"feedctl @ https://\S+\.whl#sha256=\S+", workflow["env"]["FEEDCTL"])
    installing = [step["run"] for _, step in _steps() if "pip install" in step.get("run", "")]
    assert installing
    for run in installing:
        assert '"$FEEDCTL"' in run
        assert "feedctl" not in run


def test_the_checkout_keeps_no_token() -> None:
    checkouts = [step for _, step in _steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_only_the_job_that_comments_may_write_and_it_reads_no_file_of_the_change() -> None:
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in _workflows())
    assert {name: job["permissions"] for name, job in _jobs() if "permissions" in job} == _WRITING
    assert not [step for name, step in _steps() if name in _WRITING and "uses" in step]


def test_only_the_step_that_comments_has_the_token() -> None:
    assert not [workflow for workflow in _workflows() if "token" in str(workflow.get("env", ""))]
    assert not [name for name, job in _jobs() if "token" in str(job.get("env", ""))]
    having = [(name, step) for name, step in _steps() if "github.token" in str(step)]
    assert [name for name, _ in having] == ["comment"]
    assert all("gh pr comment" in step["run"] for _, step in having)


def test_every_job_has_a_time_limit() -> None:
    assert all(0 < job["timeout-minutes"] <= 10 for _, job in _jobs())


def test_no_script_has_an_expression_in_it_that_github_would_paste_unquoted() -> None:
    assert not [step["run"] for _, step in _steps() if "${{" in step.get("run", "")]


def test_a_fork_gets_neither_token_nor_secret() -> None:
    for workflow in _workflows():
        # YAML 1.1 reads the key `on` as true.
        assert workflow[True] == ["pull_request"]
        assert "secrets." not in str(workflow)


def test_the_hook_installs_nothing_by_a_name() -> None:
    config = yaml.safe_load((TEMPLATE / ".pre-commit-config.yaml").read_text())
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    assert all(hook["language"] == "system" for repo in config["repos"] for hook in repo["hooks"])
