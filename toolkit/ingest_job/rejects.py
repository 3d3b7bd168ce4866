"""Bad records of a run: files with reasons, written and visible before the commit that skips the records."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.errors import Failed
from toolkit.ingest.errors import BadRecords

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.ingest.record_writer import BadRecord
    from toolkit.ingest_job.source import SourceUnit, Stores
    from toolkit.ingest_job.targets import IngestDetail, RejectRules


class TooManyRejects(Failed):
    """A run found more bad records than it may reject.

    Args:
        most: so many it may.
        first: the one more, with its place and the reason.
    """

    code = "too_many_rejects"

    def __init__(self, *, most: int, first: str) -> None:
        self.most, self.first = most, first
        super().__init__(
            f"more than {most} bad records, the most of a run (`max_rejects`); the next one: {first}; nothing of this "
            f"transaction was committed"
        )


@dataclass(kw_only=True)
class RejectLog:
    """Collects the bad records of a transaction; used by one thread.

    Attributes:
        table: its name, for errors.
        rules: what becomes of bad records.
        name: of the files, without number and ending.
        stores: open for changes.
        detail: counts them.
        lines: the records that are kept, as the file has them.
    """

    table: str
    rules: RejectRules
    name: str
    stores: Stores
    detail: IngestDetail
    _unit: str = field(default="", init=False)
    _positions: Sequence[int] = field(default=(), init=False)
    lines: list[bytes] = field(default_factory=list, init=False)

    def reading(self, unit: SourceUnit, positions: Sequence[int]) -> None:
        """Say from where the next records come."""
        self._unit, self._positions = unit.name, positions

    def reject(self, bad: BadRecord, record: bytes) -> None:
        """Keep a bad record.

        Raises:
            BadRecords: none may be rejected.
            TooManyRejects: no more may be.
        """
        position = self._positions[bad.index]
        if self.rules.directory is None:
            raise BadRecords(table=self.table, reasons=(_where(self._unit, position, bad.reason),), count=1)
        self._require_room(self._unit, position, bad.reason)
        line = {"unit": self._unit, "position": position, "reason": bad.reason, **_content(record)}
        self.lines.append(json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace") + b"\n")

    def _require_room(self, unit: str, position: int, reason: str) -> None:
        if self.rules.most is not None and self.detail.rejects + len(self.lines) >= self.rules.most:
            raise TooManyRejects(most=self.rules.most, first=_where(unit, position, reason))

    def take(self, lines: Sequence[bytes]) -> None:
        """Keep the `lines` of a log on another machine.

        Raises:
            TooManyRejects: no more may be rejected.
        """
        for each in lines:
            if self.rules.most is not None:
                found = json.loads(each)
                self._require_room(found["unit"], found["position"], found["reason"])
            self.lines.append(each)

    def flush(self) -> int:
        """Write what was kept to a file of its own, and return how many records it has; called before the commit."""
        number = len(self.lines)
        if not number or self.rules.directory is None:
            return 0
        path = self._free(self.rules.directory)
        system = self.stores(path)
        system.mkdirs(path.parent)
        system.write(path, self.lines, overwrite=False)
        self.detail.rejects += number
        self.detail.reject_files.append(str(path))
        self.lines.clear()
        return number

    def _free(self, directory: CanonicalPath) -> CanonicalPath:
        number = len(self.detail.reject_files)
        return directory.child(f"{self.name}-{number + 1}.jsonl" if number else f"{self.name}.jsonl")

    def drop(self, first: int = 0) -> None:
        """Forget what was kept from a line on: its transaction, or its unit, is not committed."""
        del self.lines[first:]


def _where(unit: str, position: int, reason: str) -> str:
    return f"{unit}, record at {position}: {reason}"


def _content(record: bytes) -> dict[str, str]:
    try:
        return {"record": record.decode()}
    except UnicodeDecodeError:
        return {"record_base64": base64.b64encode(record).decode()}
