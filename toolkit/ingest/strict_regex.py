"""Records that one regular expression matches as a whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from toolkit.ingest.delimited import WrongWriterSettings, check_columns
from toolkit.ingest.port import IngestColumn
from toolkit.ingest.record_writer import ConvertedRecords, RecordWriter
from toolkit.ingest.text_values import Cell, assemble, decoded, shown


@dataclass(frozen=True, kw_only=True)
class StrictRegex(RecordWriter):
    """Converts text in UTF-8 by a pattern of Python's `re` that has to match the whole record.

    A group that takes no part in the match is null. `text_values` has the rules of the types.

    Attributes:
        pattern: the expression.
        groups: column by the number or the name of a group; empty: the named groups, each the column of its name.
    """

    pattern: str
    groups: Mapping[str | int, str] = field(default_factory=dict, hash=False)
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the pattern, and check the groups."""
        try:
            compiled = re.compile(self.pattern)
        except re.error as error:
            raise WrongWriterSettings(
                setting="pattern", found=self.pattern, expected=f"an expression: {error}"
            ) from None
        known = {*compiled.groupindex, *range(1, compiled.groups + 1)}
        if unknown := [group for group in self.groups if group not in known]:
            raise WrongWriterSettings(setting="groups", found=unknown[0], expected="a group of the pattern")
        if not self.groups and not compiled.groupindex:
            raise WrongWriterSettings(setting="pattern", found=self.pattern, expected="named groups, or `groups`")
        object.__setattr__(self, "_compiled", compiled)

    @override
    def convert(self, records: Sequence[bytes], columns: Sequence[IngestColumn]) -> ConvertedRecords:
        index_of = self._compiled.groupindex
        groups = self.groups or {name: name for name in index_of}
        check_columns("groups", tuple(groups.values()), columns)
        texts, kept, bad = decoded(records)
        rows: list[tuple[Cell, ...]] = []
        indexes: list[int] = []
        match = self._compiled.fullmatch
        for index, text in zip(kept, texts, strict=True):
            if found := match(text):
                rows.append(found.groups())
                indexes.append(index)
            else:
                bad[index] = f"the pattern does not match the whole record: {shown(text)}"
        by_group = list(zip(*rows, strict=True))
        numbers = {column: index_of.get(str(group), group) for group, column in groups.items()}
        cells = {column: by_group[int(number) - 1] for column, number in numbers.items()} if rows else {}
        return assemble(columns, cells, indexes, bad)
