"""A page for each validation result, and an index: static files that need nothing beside them and no network.

They are for their owner alone: what a result tells is about data that not every user of the machine may see.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.errors import Failed
from toolkit.foreign_json import MOST_BYTES, parse_json
from toolkit.plain_files import read_plain
from toolkit.quality.documents import write_private

if TYPE_CHECKING:
    from jinja2 import Environment

    from toolkit.ledger.validations import Figure, NewValidationResult, StoredFinding
    from toolkit.ledger.vocabulary import ValidationState

_TEMPLATES = Path(__file__).parent / "templates"
_FOLDER_OWNER_ONLY = 0o700
_MOST_LISTED = 1000
"""In the index; older pages stay."""
_INDEXED = ("at", "state", "feed", "cluster", "instance_key", "failed", "findings")
_WIDTH, _HEIGHT = 96, 20
_OMITTED = frozenset({"column"})
"""Arguments that have a column of their own."""


class NoPage(Failed):
    """There is no page; the result is in the ledger all the same.

    Args:
        why: what is missing, or cannot be written.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"no page of this validation result: {why}")


def write_page(
    directory: Path,
    result: NewValidationResult,
    findings: Sequence[StoredFinding],
    *,
    at: datetime,
    sample: float = 1.0,
    before: Sequence[Figure] = (),
) -> Path:
    """Write the page and list it in `index.html` beside it; a result that is written again replaces its page.

    Args:
        directory: of the pages.
        result: that it tells.
        findings: in the order of the suites; none when it could not be validated.
        at: when it was validated.
        sample: the part of the rows that was looked at.
        before: a figure of each expectation of the results before, oldest first.

    Raises:
        NoPage: Jinja is not installed, or the file system says no.
    """
    history: dict[tuple[str, int, str], list[float]] = {}
    for each in before:
        history.setdefault((each.suite, each.position, each.type), []).append(each.figure)
    which = json.dumps([result.unit, result.data_digest, at.isoformat()])
    key = "".join(each for each in result.instance_key if each.isalnum() or each == "-")
    name = f"{result.feed}-{result.cluster}-{key}-{hashlib.sha256(which.encode()).hexdigest()[:12]}.html"
    facts = {
        **asdict(result),
        "page": name,
        "at": _time(at),
        "sample": sample,
        "decided": "",
        "findings": [_row(each, history.get((each.suite, each.position, each.type), ())) for each in findings],
        "failed": sum(not each.success for each in findings),
    }
    _write(directory / name, lambda: facts)
    return directory / name


def write_decision(page: Path, state: ValidationState, *, who: str, at: datetime, reason: str) -> None:
    """Write a page again, with a user's decision on its data.

    Raises:
        NoPage: it is not there, or as for `write_page`.
    """
    decided = f"{state.capitalize()} by {who} on {_time(at)}: {reason}"
    _write(page, lambda: {**_facts(page.with_suffix(".json")), "state": state, "decided": decided})


def _write(path: Path, facts: Callable[[], Mapping[str, Any]]) -> None:
    """A page, what it is drawn from, and the index."""
    try:
        templates, context = _templates(), facts()
        path.parent.mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        write_private(path, templates.get_template("validation.html").render(context))
        write_private(path.with_suffix(".json"), json.dumps(context))
        _write_index(path.parent, templates)
    except ImportError as error:
        raise NoPage(why="jinja2 is not installed: pip install 'feedctl[quality]'") from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        # Also of a file there that is none of ours: a result needs no page.
        raise NoPage(why=f"{type(error).__name__}: {error}") from error


def _facts(path: Path) -> dict[str, Any]:
    """Read what a page is drawn from.

    Raises:
        OSError: it is not there, or no plain file.
        ValueError: it is not of a page.
    """
    facts = parse_json(read_plain(path, MOST_BYTES, follow=False))
    if not isinstance(facts, dict) or not facts.keys() >= set(_INDEXED):
        message = f"{path} is not of a page"
        raise ValueError(message)
    return facts


def _listed(path: Path) -> dict[str, Any] | None:
    """Read what the index says of a page; None: the file is none of ours."""
    try:
        facts = _facts(path)
    except (OSError, ValueError):
        return None
    findings = facts["findings"] if isinstance(facts["findings"], list) else ()
    texts = {name: str(facts[name]) for name in _INDEXED}
    return {**texts, "findings": len(findings), "page": path.with_suffix(".html").name}


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
        last = sorted(there, key=lambda each: each.lstat().st_mtime)[-_MOST_LISTED:]
        newest = sorted(filter(None, map(_listed, last)), key=itemgetter("at", "page"), reverse=True)
        facts = {"pages": newest, "left_out": len(there) - len(last)}
        write_private(directory / "index.html", templates.get_template("index.html").render(facts))
        written = there


def _time(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _row(found: StoredFinding, history: Sequence[float]) -> Mapping[str, Any]:
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
