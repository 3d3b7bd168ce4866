"""Hand-written fake of the port of rows: rows by the text of their select, files of a JSON array a row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.errors import FeedctlError
from toolkit.exchange.rows import Merge, ReadRequest, RowsFailed, StageRequest, StoredFormat, WrittenRows
from toolkit.jdbc.port import RelationName, Row, Value


@dataclass
class FakeRows:
    """Rows that are kept as JSON in local files.

    Attributes:
        selected: rows by select; a select that is not there has those of the empty text, or none.
        staged: rows by staging table.
        failure: raised by the next call, after it wrote a file or a row.
        requests: all that was asked, in order.
    """

    selected: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    staged: dict[RelationName, list[Row]] = field(default_factory=dict)
    failure: FeedctlError | None = None
    requests: list[ReadRequest | StageRequest] = field(default_factory=list)
    closed: int = 0

    def read(self, request: ReadRequest) -> WrittenRows:
        """Write a file for each select that has rows, and one where none has; of a merge one with the newest rows."""
        self.requests.append(request)
        parts = [self._rows(select) for select in request.selects]
        if request.merge is not None:
            return self._written(request, [self._newest(request, request.merge, parts)])
        return self._written(request, [each for each in parts if each] or [[]])

    def _newest(self, request: ReadRequest, merge: Merge, parts: Sequence[Sequence[Row]]) -> list[Row]:
        names = list(request.columns)
        order, keys = names.index(merge.order), [names.index(each) for each in merge.key]
        newest: dict[Row, Row] = {}
        changed, seen = [row for part in parts for row in part], set[Row]()
        for row in [*rows_of(merge.previous), *changed]:
            key = tuple(row[each] for each in keys)
            if None in key:
                raise RowsFailed(about=request.access.name, detail=f"a row has no value of its key {merge.key}")
            if merge.is_unique and key in newest:
                detail = f"several rows have the same merge_key ({', '.join(merge.key)})"
                raise RowsFailed(about=request.access.name, detail=detail)
            if row in changed and (*key, row[order]) in seen:
                detail = f"two rows have the same merge_key ({', '.join(merge.key)}) and the same {merge.order}"
                raise RowsFailed(about=request.access.name, detail=detail)
            seen.update([(*key, row[order])] if row in changed else [])
            if key not in newest or _place(row[order]) >= _place(newest[key][order]):
                newest[key] = row
        return list(newest.values())

    def columns(self, files: tuple[str, ...], stored: StoredFormat) -> Mapping[str, str]:
        """Return the columns that the first file was written with."""
        del stored
        found = next(iter(_documents(files)), None)
        return {} if found is None else {str(name): str(kind) for name, kind in found["columns"]}

    def stage(self, request: StageRequest) -> int:
        """Keep the rows under the name of the staging table, constants last."""
        self.requests.append(request)
        rows = [(*row, *request.constants.values()) for row in rows_of(request.files)]
        into = self.staged.setdefault(request.table, [])
        if self.failure is not None:
            into.extend(rows[:1])
            raise self.failure
        into.extend(rows)
        return len(rows)

    def count(self, files: tuple[str, ...], stored: StoredFormat) -> int | None:
        """Return the number of rows, as if each format had footers."""
        del stored
        return len(rows_of(files))

    def close(self) -> None:
        """Count it."""
        self.closed += 1

    def _rows(self, select: str) -> list[Row]:
        return list(self.selected.get(select, self.selected.get("", ())))

    def _written(self, request: ReadRequest, parts: Sequence[Sequence[Row]]) -> WrittenRows:
        directory = _local(request.target)
        directory.mkdir(parents=True, exist_ok=True)
        assert not list(directory.iterdir()), "the target of a request is empty"
        for number, rows in enumerate(parts):
            document = {"columns": list(request.columns.items()), "rows": rows}
            file = directory / f"part-{number:05}.{request.stored.format}"
            file.write_text(json.dumps(document, default=str), encoding="utf-8")
            if self.failure is not None:
                raise self.failure
        return WrittenRows(
            rows=sum(map(len, parts)),
            bytes=sum(each.stat().st_size for each in directory.iterdir()),
            files=len(parts),
        )


def rows_of(files: Sequence[str]) -> list[Row]:
    """Return the rows of files or directories that the fake wrote; what JSON has no type for is text."""
    return [tuple(row) for document in _documents(files) for row in document["rows"]]


def _place(value: Value) -> tuple[int, str]:
    """Return what orders numbers by size, and texts and times as texts; a test has one type in a column."""
    return (value, "") if isinstance(value, int) else (0, str(value))


def _documents(files: Sequence[str]) -> list[dict[str, list[list[Value]]]]:
    paths = [path for each in files for path in _files(_local(each))]
    return [json.loads(each.read_text(encoding="utf-8")) for each in paths]


def _files(path: Path) -> list[Path]:
    found = sorted(path.iterdir()) if path.is_dir() else [path]
    return [each for each in found if each.name.startswith("part-")]


def _local(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))
