"""Tests of what a shell offers after Tab, asked as the shell asks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from tests.unit.config_source.checkouts import git
from toolkit.linter.rules import RULES

PROGRAM = Path(sys.executable).with_name("feedctl")


class TableRequest:
    """The command, asked for completions in this process."""

    def __init__(self, feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch) -> None:
        self.feedctl, self.monkeypatch = feedctl, monkeypatch

    def __call__(self, line: str, shell: str = "bash") -> str:
        self.monkeypatch.setenv("_FEEDCTL_COMPLETE", f"complete_{shell}")
        self.monkeypatch.setenv("COMP_WORDS", line)
        self.monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        self.monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        with pytest.raises(SystemExit) as ended:
            self.feedctl()
        printed = self.feedctl.capsys.readouterr()
        assert (ended.value.code, printed.err) == (0, "")
        return printed.out

    def words(self, line: str) -> list[str]:
        """Return what bash is offered."""
        return self(line).split()


@pytest.fixture
def requested(feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch) -> TableRequest:
    return TableRequest(feedctl, monkeypatch)


@pytest.mark.usefixtures("repo")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("entity show crm", ["crm", "crm_customers"]),
        ("hold add c", ["clicks", "clicks_by_country", "clicks_hourly", "crm_customers"]),
        ("entity list --env ", ["dev", "pair", "prod"]),
        ("lint --env p", ["pair", "prod"]),
        ("entity status clicks --cluster ", ["primary"]),
        ("entity status clicks --env prod --cluster ", ["backup", "primary"]),
        ("run enqueue --env prod --cluster b", ["backup"]),
        ("entity list --group ", ["ads", "bi", "crm", "online", "reports"]),
        ("entity list --tag class", ["classification=internal", "classification=pii"]),
        ("entity list --env prod --tag stage", ["stage=production", "stage=recovery"]),
        ("lint --select retention-below", ["retention-below-cut-off", "retention-below-frequency"]),
        ("lint --ignore unknown-f", ["unknown-feed"]),
        (
            "entrypoint ",
            [
                "compact",
                "db_export",
                "db_import",
                "doctor",
                "hive_export",
                "hive_import",
                "hive_replication",
                "ingest",
                "late_check",
                "mirror",
                "monitor",
                "process",
                "replication",
                "retention",
                "trigger",
                "validate",
            ],
        ),
        ("schema d", ["dataset", "datasource", "db_export", "db_import", "defaults"]),
    ],
)
def test_what_stands_in_the_config_repo_and_what_feedctl_has_is_offered(
    requested: TableRequest, line: str, offered: list[str]
) -> None:
    assert requested.words(f"feedctl {line}") == offered


def test_all_rules_are_offered(requested: TableRequest) -> None:
    assert requested.words("feedctl lint --select ") == sorted(RULES)


def test_the_config_repo_that_the_line_names_is_looked_at(
    requested: TableRequest, template_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(template_repo.parent))
    assert requested.words("feedctl entity list --group ") == []
    for named in (str(template_repo), f"~/{template_repo.name}"):
        assert requested.words(f"feedctl entity list --config-repo {named} --group b") == ["bi"]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_nothing_that_means_something_to_a_shell_is_offered(
    requested: TableRequest, own_repo: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("FEEDCTL_REPO", str(own_repo))
    defaults = own_repo / "feeds" / "crm" / "defaults.yaml"
    hostile = r'{a: "$(id)", b: "`id`", c: "x y", d: "x;id", e: "x\nid", f: "*", g: "\"", i: "x>y", j: "ä", k: fine}'
    defaults.write_text(f"feed:\n  tags: {hostile}\n")
    offered = requested("feedctl entity list --tag ", shell)
    words = re.findall(r'"(.*?)"', offered) if shell == "zsh" else offered.splitlines()
    others = ["classification=internal", "classification=pii", "stage=development", "stage=recovery"]
    assert words == [*others[:2], "k=fine", *others[2:], "team=ads", "team=web"]


@pytest.mark.parametrize("broken", ["kind: [", "", None])
def test_without_a_usable_repo_nothing_is_offered_and_nothing_is_said(
    requested: TableRequest, own_repo: Path, monkeypatch: pytest.MonkeyPatch, broken: str | None
) -> None:
    monkeypatch.setenv("FEEDCTL_REPO", str(own_repo))
    if broken is None:
        shutil.rmtree(own_repo)
        own_repo.mkdir()
    else:
        (own_repo / "clusters" / "primary.yaml").write_text(broken)
    assert requested.words("feedctl entity status clicks --cluster ") == []
    assert requested.words("feedctl entity list --env nowhere --tag ") == []


def test_a_git_configuration_that_names_a_program_starts_none(own_repo: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    git(own_repo, "config", "core.fsmonitor", f"touch {marker}; false")
    asking = (tab(own_repo, "entity", "status", "clicks", "--cluster", "") for _ in range(40))  # a busy machine is late
    assert next(offered for offered in asking if offered) == ["primary"]
    assert not marker.exists()
    git(own_repo, "status")
    assert marker.exists(), "the trap is none"


def test_who_waits_too_long_is_offered_nothing(own_repo: Path, tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o755)
    began = time.monotonic()
    assert tab(own_repo, "entity", "show", "", first_on_path=slow.parent) == []
    assert time.monotonic() - began < 15


def test_a_shell_that_asks_wrongly_is_told_nothing(tmp_path: Path) -> None:
    asking = {"_FEEDCTL_COMPLETE": "complete_bash", "COMP_WORDS": "feedctl", "COMP_CWORD": "?", "TMPDIR": str(tmp_path)}
    done = subprocess.run([PROGRAM], env=dict(os.environ, **asking), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")


def tab(folder: Path, *words: str, first_on_path: Path | None = None) -> list[str]:
    """Return what bash offers in a folder, by the script that `feedctl --install-completion` installs.

    Args:
        folder: the working directory.
        words: after the command; the last one is being typed.
        first_on_path: programs of this folder come before others.
    """
    script = (
        'eval "$(_FEEDCTL_COMPLETE=source_bash feedctl)"\nCOMP_WORDS=(feedctl "$@") COMP_CWORD=$#\n'
        '_feedctl_completion feedctl\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = ":".join(map(str, filter(None, [first_on_path, PROGRAM.parent, os.environ["PATH"]])))
    done = subprocess.run(
        ["bash", "-c", script, "bash", *words],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()
