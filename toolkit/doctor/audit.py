"""Whether the audit file can be written; nothing is made or written to find out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from toolkit.doctor.findings import Finding, failed, ok
from toolkit.doctor.writing import obstacle_to_making
from toolkit.runs.audit import AuditPlace, require_appendable, why_not


def audit_findings(place: AuditPlace, obstacle: Callable[[Path], str] = obstacle_to_making) -> Iterator[Finding]:
    """Whether an action could begin its lines there; without it no action that changes something starts.

    Args:
        place: of the file.
        obstacle: why a file that is not there could not be made; empty: it could.
    """
    file, is_there = place.file, os.path.lexists(place.file)
    why = _refusal(place) if is_there else obstacle(file)
    if why:
        todo = "make it writable for this user, or name another with `audit_file` in repo.yaml or FEEDCTL_AUDIT"
        yield failed(f"{file} cannot be written: {why}", todo=todo)
    elif is_there:
        yield ok(f"{file} can be appended to")
    else:
        yield ok(f"{file} is not there yet: the first action that changes something makes it")


def _refusal(place: AuditPlace) -> str:
    try:
        require_appendable(place)
    except OSError as error:
        return why_not(error)
    return ""
