"""The finding in the picture of the README is what feedctl says."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from toolkit.cli.lint import LintFormat
from toolkit.cli.lint_run import Prefixes, render
from toolkit.config_source import from_directory
from toolkit.linter.engine import LintRequest, lint
from toolkit.linter.settings import RuleSelection

ROOT = Path(__file__).parents[3]
FILE = "processes/customer_activity_job.yaml"


def test_the_finding_in_the_picture_is_what_feedctl_says() -> None:
    template = from_directory(ROOT / "config_repo_template")
    wrong = template.files[FILE].replace(b'"yesterday(0,0)"', b'"today(-480,0)"')
    assert wrong != template.files[FILE]
    request = LintRequest(
        snapshot=replace(template, files={**template.files, FILE: wrong}),
        time=datetime(2026, 3, 20, 12, tzinfo=UTC),
        selection=RuleSelection(select=("input-older-than-retention",)),
    )
    text = render(lint(request), LintFormat.TEXT, Prefixes(in_checkout="", shown=""), colours=False)
    finding = text.partition("\n\n")[0]
    assert "(docs/pictures/lint.svg)" in (ROOT / "README.md").read_text()
    picture = html.unescape(re.sub(r"<[^>]*>", "", (ROOT / "docs" / "pictures" / "lint.svg").read_text()))
    assert "".join(finding.split()) in "".join(picture.split()), f"`make docs` draws it anew; it is now\n{finding}"
