"""The baseline: findings that an old repo starts with, and that do not count until they are mended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from toolkit.errors import InvalidInput
from toolkit.linter.findings import Finding

VERSION = 1
"""Version of the file's form; it rises when a key changes its meaning or is removed."""


class BadBaseline(InvalidInput):
    """A file that is no baseline.

    Args:
        file: as the user gave it.
        reason: what is wrong with it.
    """

    def __init__(self, *, file: str, reason: str) -> None:
        self.file, self.reason = file, reason
        super().__init__(f"--baseline {file}: {reason}; `feedctl lint --baseline {file} --write-baseline` makes one")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class BaselineEntry:
    """A finding that the baseline knows.

    Attributes:
        fingerprint: of `Finding.fingerprint`.
    """

    file: str
    rule: str
    key: str
    message: str
    fingerprint: str

    @classmethod
    def of(cls, finding: Finding) -> BaselineEntry:
        """The entry for a finding."""
        return cls(
            file=finding.file,
            rule=finding.rule,
            key=finding.key,
            message=finding.message,
            fingerprint=finding.fingerprint,
        )

    @property
    def place(self) -> tuple[str, str, str]:
        """The part that stays when figures in the message change."""
        return self.file, self.rule, self.key


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """The findings that are known.

    Attributes:
        file: as the user gave it.
        entries: sorted.
    """

    file: str
    entries: tuple[BaselineEntry, ...]

    @classmethod
    def parse(cls, text: str, file: str) -> Baseline:
        """Reads a baseline.

        Raises:
            BadBaseline: the text is none.
        """
        try:
            document = json.loads(text)
            version, items = document["schema_version"], document["findings"]
            entries = sorted(BaselineEntry(**item) for item in items)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise BadBaseline(file=file, reason=f"found no baseline in it ({error})") from error
        if version != VERSION:
            raise BadBaseline(file=file, reason=f"found the schema version {version!r}, expected {VERSION}")
        return cls(file=file, entries=tuple(entries))

    def text(self) -> str:
        """Return the text for `parse`: sorted, one key a line, so that a merge has few conflicts."""
        items = [asdict(each) for each in sorted(self.entries)]
        document = {"schema_version": VERSION, "findings": items}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def split(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding], list[BaselineEntry]]:
        """The findings that are new, those that are known, and the entries that none of them is.

        An entry stands for one finding: the same one, else one of the same rule at the same place in the document,
        since figures in a message change with the time.
        """
        new, known, left = _match(findings, self.entries, lambda each: each.fingerprint, _fingerprint)
        new, also_known, left = _match(new, left, lambda each: each.place, _place)
        return new, sorted([*known, *also_known]), left


def _match(
    findings: Iterable[Finding],
    entries: Sequence[BaselineEntry],
    of_entry: Callable[[BaselineEntry], object],
    of_finding: Callable[[Finding], object],
) -> tuple[list[Finding], list[Finding], list[BaselineEntry]]:
    available = Counter(map(of_entry, entries))
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in findings:
        key = of_finding(finding)
        (known if available[key] else new).append(finding)
        available[key] -= min(1, available[key])
    left: list[BaselineEntry] = []
    for entry in reversed(entries):
        key = of_entry(entry)
        if available[key]:
            left.append(entry)
            available[key] -= 1
    return new, known, sorted(left)


def _fingerprint(finding: Finding) -> str:
    return finding.fingerprint


def _place(finding: Finding) -> tuple[str, str, str]:
    return finding.file, finding.rule, finding.key
