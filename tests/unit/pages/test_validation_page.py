"""The page of a validation result: what it shows, that it needs no network, and that a browser shows it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from toolkit.ledger.validation_figures import Figure
from toolkit.ledger.validations import NewValidationResult, StoredFinding, ValidationResult
from toolkit.ledger.vocabulary import ValidationState
from toolkit.pages.validation_page import write_decision, write_page
from toolkit.quality.validator import NoPage

FAILED = StoredFinding(
    suite="clicks",
    position=1,
    type="expect_column_values_to_be_between",
    severity="critical",
    success=False,
    kwargs={"column": "amount", "min_value": 0},
    column_name="amount",
    observed="",
    rows=3000,
    unexpected=1,
    examples=("<script>document.title='run'</script>", "-7"),
    error="",
)
MISSING = replace(FAILED, position=2, column_name="colo", rows=None, unexpected=None, examples=(), error="no column")
PASSED = replace(FAILED, position=0, success=True, unexpected=0, examples=())
VERDICT = NewValidationResult(
    run_id=1,
    life_cycle=None,
    entity="clicks_job",
    feed="clicks",
    cluster="primary",
    instance_key="2026-03-01T06:00Z",
    unit="hdfs://nn/data/clicks/2026/03/01/06",
    counterpart="",
    data_digest="d" * 64,
    layout_digest="e" * 64,
    suites_digest="5" * 64,
    suites=("clicks",),
    state=ValidationState.BLOCKED,
    is_by_hand=False,
    rows=3000,
    files=1,
    bytes=9,
    place="hdfs://nn/data/clicks/2026/03/01/.feedctl-staging/06",
    page=None,
    engine="great_expectations 1.24.1",
    seconds=1.5,
    reason="2 critical expectations do not hold",
)
FINDINGS = (PASSED, FAILED, MISSING)
SEVEN = datetime(2026, 3, 1, 7, tzinfo=UTC)
BEFORE = [Figure(suite="clicks", position=1, type=FAILED.type, figure=each) for each in (0, 0.5, 1)]


def drawn(directory: Path) -> Path:
    return write_page(directory, VERDICT, FINDINGS, at=SEVEN, before=BEFORE)


class Elements(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_tells_what_was_judged_and_what_was_found(tmp_path: Path) -> None:
    shown = Elements(drawn(tmp_path)).text
    for output in (
        "Blocked", "clicks on primary", "2026-03-01T06:00Z", VERDICT.unit, VERDICT.data_digest, VERDICT.suites_digest,
        VERDICT.reason or "?", "2026-03-01 07:00:00 UTC", "great_expectations 1.24.1", "1 of 3 hold", "not computed",
        "no column", "min_value: 0", "1 of 3,000", "0.0333 %", "-7", "clicks_job, run 1",
        "feedctl quality release clicks", "feedctl quality reject clicks",
    ):  # fmt: skip
        assert output in shown


def test_a_value_is_text_and_nothing_that_a_browser_runs(tmp_path: Path) -> None:
    elements = Elements(drawn(tmp_path))
    assert not [tag for tag, _ in elements.tags if tag == "script"]
    assert "<script>document.title='run'</script>" in elements.text


def test_what_failed_comes_first_and_a_share_needs_no_style(tmp_path: Path) -> None:
    elements = Elements(drawn(tmp_path))
    states = [attributes["class"] for tag, attributes in elements.tags if tag == "td" and "state" in str(attributes)]
    assert states == ["state failed", "state not-computed", "state passed"]
    assert not [name for _, attributes in elements.tags for name in attributes if name == "style"]


def test_a_command_is_quoted_for_a_shell(tmp_path: Path) -> None:
    unit = "hdfs://nn/$(touch run)/it's"
    page = write_page(tmp_path, replace(VERDICT, unit=unit), FINDINGS, at=SEVEN)
    command = next(line for line in Elements(page).text.splitlines() if line.startswith("feedctl quality release"))
    assert shlex.split(command)[-4:] == ["--unit", unit, "--reason", "WHY"]


def test_a_page_needs_nothing_but_the_style_sheets_beside_it(tmp_path: Path) -> None:
    page = drawn(tmp_path)
    named = {str(values[name]) for _, values in Elements(page).tags for name in ("href", "src") if name in values}
    assert {each for each in named if each.endswith(".css")} == named - {"#main"}
    for each in named - {"#main"}:
        style = (tmp_path / each).read_text(encoding="utf-8")
        assert "url(" not in style
        assert "@import" not in style


def test_an_expectation_with_a_past_has_a_line(tmp_path: Path) -> None:
    lines = [attributes["points"] for tag, attributes in Elements(drawn(tmp_path)).tags if tag == "polyline"]
    assert lines == ["2.0,18.0 32.7,10.0 63.3,2.0 94.0,18.0"], "the last point is this result"


def test_a_verdict_without_findings_has_a_page_too(tmp_path: Path) -> None:
    shown = Elements(
        write_page(tmp_path, replace(VERDICT, state=ValidationState.UNKNOWN, rows=None), (), at=SEVEN)
    ).text
    assert "Unknown" in shown
    assert "Nothing was validated" in shown


def test_a_page_tells_what_was_decided_and_why_and_released_data_is_not_green(tmp_path: Path) -> None:
    page = drawn(tmp_path)
    kept = {"verdict_id": 7, "recorded_at": SEVEN, "decided_by": None, "decided_at": None, "decision": "closed <today>"}
    result = ValidationResult(**{**asdict(VERDICT), **kept})
    nine = SEVEN + timedelta(hours=2)
    write_decision(page, result, FINDINGS, ValidationState.RELEASED, who="ann", at=nine, before=BEFORE)
    shown = Elements(page)
    assert "Released by ann on 2026-03-01 09:00:00 UTC: closed <today>" in shown.text
    assert ("h1", {"class": "released"}) in shown.tags
    assert "feedctl quality release" not in shown.text, "it is decided"
    style = (tmp_path / "assets/feedctl.css").read_text(encoding="utf-8")
    assert ".released" in next(line for line in style.splitlines() if "var(--warn)" in line and line.startswith("."))
    with pytest.raises(NoPage, match="gone"):
        write_decision(tmp_path / "gone.html", result, FINDINGS, ValidationState.REJECTED, who="ann", at=nine)


def test_a_page_is_for_its_owner_alone(tmp_path: Path) -> None:
    page = drawn(tmp_path / "a" / "pages")
    assert page.parent.stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in page.parent.rglob("*") if each.is_file()} == {0o600}


def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoPage, match="file"):
        drawn(tmp_path / "file")


def test_without_jinja_there_is_no_page_and_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(NoPage, match=r"feedctl\[quality\]"):
        drawn(tmp_path)


@pytest.mark.extended
def test_a_browser_without_a_network_shows_a_page_and_runs_nothing(tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if not browser:
        if os.environ.get("CI"):
            pytest.fail("no chromium: apt-get install chromium")
        pytest.skip("no chromium: apt-get install chromium")
    page, picture = drawn(tmp_path), tmp_path / "page.png"
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}",
    ]  # fmt: skip
    dumped = subprocess.run(
        [browser, *options, "--dump-dom", page.as_uri()], capture_output=True, text=True, check=True, timeout=120
    )
    shown = tmp_path / "shown.html"
    shown.write_text(dumped.stdout, encoding="utf-8")
    elements = Elements(shown)
    assert "<title>blocked: clicks 2026-03-01T06:00Z</title>" in dumped.stdout
    assert "1 of 3 hold" in elements.text
    assert ("polyline", {"points": "2.0,18.0 32.7,10.0 63.3,2.0 94.0,18.0"}) in elements.tags
    assert "Content Security Policy" not in dumped.stderr
    assert "Failed to load resource" not in dumped.stderr
    subprocess.run(
        [browser, *options, f"--screenshot={picture}", page.as_uri()], capture_output=True, check=True, timeout=120
    )
    assert picture.stat().st_size > 10_000, "an empty page is smaller"
