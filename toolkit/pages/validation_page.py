"""Pages of validation results: of a run, for its owner alone, and those of all results in the pages of `feedctl page`.

Only the page of a run shows values of rows: who sees the others is up to the web server that has them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from toolkit.ledger.database import Transaction
from toolkit.ledger.validation_figures import Figure, figure_of, figures_of
from toolkit.ledger.validations import UNDECIDED, NewValidationResult, StoredFinding, ValidationResult
from toolkit.ledger.vocabulary import ValidationState
from toolkit.pages.folder import page_name
from toolkit.pages.templating import NoTemplates, PageCell, PageSection, PageTemplates, assets
from toolkit.quality.documents import write_private
from toolkit.quality.validator import NoPage

TREND = 30
"""Instances in the chart of an expectation."""
_FOLDER_OWNER_ONLY = 0o700
_WIDTH, _HEIGHT = 96, 20
_OMITTED = frozenset({"column"})
"""Arguments that have a column of their own."""
_ORDER = ("failed", "not computed", "left out", "passed")


def write_page(
    directory: Path,
    result: NewValidationResult,
    findings: Sequence[StoredFinding],
    *,
    at: datetime,
    sample: float = 1.0,
    before: Sequence[Figure] = (),
) -> Path:
    """Write the page of a result; one that is written again replaces its page.

    Args:
        directory: of the pages.
        result: of the validation.
        findings: in the order of the suites; none when it could not be validated.
        at: when it was validated.
        sample: the part of the rows that was looked at.
        before: a figure of each expectation of the results before, oldest first.

    Raises:
        NoPage: Jinja is not installed, or the file system refuses.
    """
    which = json.dumps([result.unit, result.data_digest, at.isoformat()])
    key = "".join(each for each in result.instance_key if each.isalnum() or each == "-")
    name = f"{result.feed}-{result.cluster}-{key}-{hashlib.sha256(which.encode()).hexdigest()[:12]}.html"
    _write_private(directory / name, {**validation_values(result, findings, at, before), "sample": sample})
    return directory / name


def write_decision(
    page: Path,
    result: ValidationResult,
    findings: Sequence[StoredFinding],
    state: ValidationState,
    *,
    who: str,
    at: datetime,
    sample: float = 1.0,
    before: Sequence[Figure] = (),
) -> None:
    """Write the page of a result again, with a user's decision on its data.

    Raises:
        NoPage: there is none at this path, or as for `write_page`.
    """
    if not page.is_file():
        raise NoPage(why=f"{page} is gone")
    decided = replace(result, state=state, decided_by=who, decided_at=at)
    values = validation_values(decided, findings, result.recorded_at, before)
    _write_private(page, {**values, "sample": sample})


def _write_private(path: Path, values: Mapping[str, object]) -> None:
    try:
        text = PageTemplates(extra="quality").render("validation.html", path.name, values)
        path.parent.joinpath("assets").mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        path.parent.chmod(_FOLDER_OWNER_ONLY)
        for name, asset in assets():
            if name.endswith(".css"):
                write_private(path.parent / name, asset)
        write_private(path, text)
    except (NoTemplates, OSError) as error:
        raise NoPage(why=str(error)) from error


def validation_values(
    result: NewValidationResult, findings: Sequence[StoredFinding], at: datetime, before: Sequence[Figure] = ()
) -> dict[str, object]:
    """Return the values of the template of a page."""
    history: dict[tuple[str, int, str], list[float]] = {}
    now = [figure for each in findings if (figure := figure_of(each)) is not None]
    for each in (*before, *now):
        history.setdefault((each.suite, each.position, each.type), []).append(each.figure)
    rows = [_row(each, history.get((each.suite, each.position, each.type), ())) for each in findings]
    return {
        "result": result,
        "at": _time(at),
        "sample": 1.0,
        "decided": _decision(result),
        "commands": list(_commands(result)),
        "rows": sorted(rows, key=lambda each: _ORDER.index(str(each["state"]))),
        "feed_path": "",
    }


def result_path(result: ValidationResult) -> str:
    """Return the path of the page of a result among those of `feedctl page`."""
    return f"quality/{page_name(result.feed)}/{result.verdict_id}.html"


def results_section(results: Sequence[ValidationResult], has_page: Callable[[str], bool]) -> PageSection:
    """Return a section with a row for each result, which links to its page if there is one."""
    rows = [
        [
            PageCell(each.state, path if has_page(path) else "", each.state),
            *map(PageCell, (each.feed, each.instance_key, each.cluster, _time(each.recorded_at), each.reason or "")),
            PageCell("" if each.rows is None else f"{each.rows:,}"),
        ]
        for each, path in ((each, result_path(each)) for each in results)
    ]
    headings = ("state", "feed", "instance", "cluster", "validated", "reason", "rows")
    return PageSection(heading="Validation results", headings=headings, rows=rows)


def result_values(
    tx: Transaction, result: ValidationResult, findings: Sequence[StoredFinding], feed_path: str
) -> dict[str, object]:
    """Return the values of the template for a page among those of `feedctl page`: without values of rows."""
    before = figures_of(tx, result.feed, result.cluster, TREND - 1, until=result.verdict_id - 1)
    shown = [replace(each, examples=()) for each in findings]
    return {**validation_values(result, shown, result.recorded_at, before), "feed_path": feed_path}


def _decision(result: NewValidationResult) -> str:
    if not isinstance(result, ValidationResult) or result.decided_at is None:
        return ""
    what = f"{result.state.capitalize()} by {result.decided_by} on {_time(result.decided_at)}"
    return f"{what}: {result.decision}"


def _commands(result: NewValidationResult) -> Iterator[str]:
    """Yield the commands that decide on blocked data; arguments are quoted for a shell."""
    if result.state in UNDECIDED and not result.is_by_hand:
        place = (result.feed, "--time", result.instance_key, "--cluster", result.cluster, "--unit", result.unit)
        for decision in ("release", "reject"):
            yield f"{shlex.join(['feedctl', 'quality', decision, *place])} --reason 'WHY'"


def _time(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _row(found: StoredFinding, history: Sequence[float]) -> dict[str, object]:
    share = found.unexpected / found.rows if found.rows and found.unexpected is not None else None
    return {
        **asdict(found),
        "state": _state(found),
        "expected": ", ".join(
            f"{name}: {_json(value)}" for name, value in found.kwargs.items() if name not in _OMITTED
        ),
        "share": share,
        "percent": None if share is None else _percent(share),
        "line": _line(history),
        "trend": _trend(history, is_share=share is not None),
    }


def _state(found: StoredFinding) -> str:
    if found.is_left_out:
        return "left out"
    return "passed" if found.success else "not computed" if found.error else "failed"


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _percent(share: float) -> str:
    """With enough digits that one row in many does not look like none."""
    return f"{100 * share:.3g} %"


def _trend(history: Sequence[float], *, is_share: bool) -> str:
    """Return a chart in words."""
    if not history:
        return ""
    first, last, least, most = (
        _percent(each) if is_share else f"{each:g}" for each in (history[0], history[-1], min(history), max(history))
    )
    return f"{len(history)} results: first {first}, last {last}, from {least} to {most}"


def _line(history: Sequence[float]) -> str:
    """Points of an SVG line, the greatest figure at the top, 0 or the least at the bottom; "" for less than two."""
    if len(history) <= 1:
        return ""
    least, most = min(0.0, *history), max(history)
    span, step = (most - least) or 1.0, (_WIDTH - 4) / (len(history) - 1)
    return " ".join(
        f"{2 + place * step:.1f},{_HEIGHT - 2 - (_HEIGHT - 4) * (figure - least) / span:.1f}"
        for place, figure in enumerate(history)
    )
