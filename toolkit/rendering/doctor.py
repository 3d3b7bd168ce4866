"""What `feedctl doctor` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from toolkit.doctor.findings import CheckStatus, worst
from toolkit.rendering.tables import cell, write_table

if TYPE_CHECKING:
    from toolkit.doctor.findings import Checked

_STYLES: Mapping[str, str] = {
    CheckStatus.OK: "green",
    CheckStatus.WARNING: "yellow",
    CheckStatus.FAILED: "bold red",
    CheckStatus.SKIPPED: "dim",
}


def write_findings(found: Sequence[Checked], stream: TextIO) -> None:
    """The form for people: a table, and how many checks ended how."""
    rows = [
        (each.about, _name(each), str(each.finding.status), cell(each.finding.found), cell(each.finding.todo))
        for each in found
    ]
    write_table(("about", "check", "status", "found", "to do"), rows, stream, _STYLES)
    counts = _counts(found)
    stream.write("\n" + ", ".join(f"{count} {status}" for status, count in counts.items() if count) + "\n")


def findings_document(found: Sequence[Checked]) -> dict[str, object]:
    """The JSON form."""
    return {
        "status": worst(found).value,
        "counts": _counts(found),
        "checks": [
            {
                "about": each.about,
                "check": each.name,
                "what": each.finding.what or None,
                "status": each.finding.status.value,
                "found": each.finding.found,
                "todo": each.finding.todo or None,
                "seconds": round(each.seconds, 3),
            }
            for each in found
        ],
    }


def _name(each: Checked) -> str:
    return cell(f"{each.name} {each.finding.what}".rstrip())


def _counts(found: Sequence[Checked]) -> dict[str, int]:
    counts = Counter(each.finding.status for each in found)
    return {status.value: counts[status] for status in CheckStatus}
