"""A page for each verdict, and an index of them: static files that need nothing beside them, no network above all.

They are for their owner alone: what a verdict tells is about data that not every user of the machine may see.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.errors import Failed
from toolkit.quality.exchange import Finding, write_private

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_FOLDER_OWNER_ONLY = 0o700
_MOST_LISTED = 1000
"""In the index; older pages stay."""
_WIDTH, _HEIGHT = 96, 20
_NOT_SAID = frozenset({"column"})
"""Arguments that have a column of their own."""


class NoPage(Failed):
    """There is no page; the verdict is in the ledger all the same.

    Args:
        why: what is missing, or cannot be written.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"no page of this verdict: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFinding:
    """A row of the page.

    Attributes:
        finding: see there.
        history: a figure of each verdict before, oldest first: the share not as expected, or what was observed.
    """

    finding: Finding
    history: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownVerdict:
    """What a page tells.

    Attributes:
        feed, cluster, instance_key, unit: see `toolkit.actions.gate.Written`.
        state: passed, warned, blocked, unknown, released or rejected.
        at: when it was judged.
        by: what judged, name and version; or who decided.
        digest: of the data that was judged.
        suites_digest: of what it was judged by.
        findings: in the order of the suites; none when nobody could judge it.
        rows: of the data; None: not known.
        sample: the part of them that was looked at.
        seconds: that judging took.
        why: in a sentence: why nobody could judge it, or the reason of a release; may be empty.
    """

    feed: str
    cluster: str
    instance_key: str
    unit: str
    state: str
    at: datetime
    by: str
    digest: str
    findings: Sequence[ShownFinding]
    suites_digest: str = ""
    rows: int | None = None
    sample: float = 1.0
    seconds: float | None = None
    why: str = ""


def write_page(directory: Path, verdict: ShownVerdict) -> Path:
    """Write the page and list it in `index.html` beside it; a verdict that is written again replaces its page.

    Raises:
        NoPage: Jinja is not installed, or the file system says no.
    """
    try:
        templates = _templates()
    except ImportError as error:
        raise NoPage(why="jinja2 is not installed: pip install 'feedctl[quality]'") from error
    path = directory / f"{_name(verdict)}.html"
    facts = {"verdict": verdict, "at": _time(verdict.at), "rows": [_row(each) for each in verdict.findings]}
    listed = {
        "page": path.name,
        "feed": verdict.feed,
        "cluster": verdict.cluster,
        "instance": verdict.instance_key,
        "state": verdict.state,
        "at": _time(verdict.at),
        "failed": sum(not each.finding.success for each in verdict.findings),
        "judged": len(verdict.findings),
    }
    try:
        directory.mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        write_private(path, templates.get_template("verdict.html").render(facts))
        write_private(path.with_suffix(".json"), json.dumps(listed))
        _write_index(directory, templates)
    except (OSError, ValueError, LookupError, TypeError) as error:
        # Also of a file there that is none of ours: a verdict needs no page.
        raise NoPage(why=f"{type(error).__name__}: {error}") from error
    return path


def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - an extra; see `write_page`

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _write_index(directory: Path, templates: Environment) -> None:
    """Until it lists what is there: another process may have written a page, and the index, at the same time."""
    written: set[Path] = set()
    while (there := set(directory.glob("*.json"))) != written:
        listed = [json.loads(each.read_text(encoding="utf-8")) for each in there]
        newest = sorted(listed, key=lambda each: (each["at"], each["page"]), reverse=True)
        facts = {"pages": newest[:_MOST_LISTED], "left_out": max(0, len(newest) - _MOST_LISTED)}
        write_private(directory / "index.html", templates.get_template("index.html").render(facts))
        written = there


def _name(verdict: ShownVerdict) -> str:
    key = "".join(each for each in verdict.instance_key if each.isalnum() or each == "-")
    which = hashlib.sha256(json.dumps([verdict.unit, verdict.digest, verdict.at.isoformat()]).encode()).hexdigest()[:12]
    return f"{verdict.feed}-{verdict.cluster}-{key}-{which}"


def _time(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _row(shown: ShownFinding) -> Mapping[str, Any]:
    found = shown.finding
    share = found.unexpected / found.rows if found.rows and found.unexpected is not None else None
    return {
        "found": found,
        "state": "passed" if found.success else "not computed" if found.error else "failed",
        "expected": ", ".join(
            f"{name}: {_json(value)}" for name, value in found.kwargs.items() if name not in _NOT_SAID
        ),
        "share": share,
        "percent": None if share is None else _percent(share),
        "line": _line(shown.history),
    }


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _percent(share: float) -> str:
    """With enough digits that one row in many does not look like none."""
    return f"{100 * share:.3g} %"


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
