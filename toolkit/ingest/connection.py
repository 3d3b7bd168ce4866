"""Connections to a table: the entry of the API of streaming ingest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeAlias

import pyarrow as pa

from toolkit.errors import FeedctlError
from toolkit.ingest.batch import RejectRecord, TransactionBatch
from toolkit.ingest.call_errors import (
    BadFixedValue,
    BadTransactionCount,
    BatchIsOpen,
    ConnectionIsClosed,
    PartitionValueDiffers,
)
from toolkit.ingest.committer import Committer
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.errors import NoSuchIngestTable, TableMismatch
from toolkit.ingest.port import WRITER_PROPERTY, IngestCatalog, IngestColumn, IngestTable, TableSpec
from toolkit.ingest.record_writer import BadRecord, RecordWriter
from toolkit.ingest.remote_transaction import FillRows
from toolkit.ingest.settlement import IngestEvents
from toolkit.ingest.text_values import BadValue, parse_text, text_type
from toolkit.ingest.writer_progress import progress_of, sequence_of
from toolkit.ledger import ingest
from toolkit.ledger.database import Ledger

TIMEOUT = timedelta(minutes=5)
FLUSH_BYTES = 64 << 20
_REQUIRED = " required"

OpenCatalog: TypeAlias = Callable[[CatalogAddress], IngestCatalog]


def connect(
    endpoint: Endpoint,
    *,
    ledger: Ledger,
    agent: str,
    open_catalog: OpenCatalog,
    create: TableSpec | None = None,
    events: IngestEvents | None = None,
    fill: FillRows | None = None,
    filled: tuple[str, ...] = (),
) -> Connection:
    """Open a connection to a table.

    Args:
        endpoint: the table.
        ledger: gives the ids of transactions.
        agent: name of the writer, for people.
        open_catalog: opens the catalog.
        create: the definition of the table when it is missing; None: then it is an error.
        events: of a commit, for the ledger.
        fill: adds columns to the rows that a record writer made.
        filled: their names.

    Raises:
        NoSuchIngestTable: it is missing, and there is no definition.
        TableMismatch: it does not fit the definition.
        BadFixedValue: the endpoint fixes what is no partition column, or to a value that the column cannot have.
    """
    catalog = open_catalog(endpoint.catalog)
    try:
        table = _opened(catalog, endpoint, create)
        fixed = _fixed(table, endpoint.partition_values) if endpoint.partition_values else {}
        committer = Committer(table=table, ledger=ledger, events=events)
        return Connection(
            endpoint=endpoint,
            agent=agent,
            catalog=catalog,
            committer=committer,
            fixed=fixed,
            fill=fill,
            filled=filled,
        )
    except FeedctlError:
        catalog.close()
        raise


def _opened(catalog: IngestCatalog, endpoint: Endpoint, create: TableSpec | None) -> IngestTable:
    try:
        table = catalog.open(endpoint.namespace, endpoint.table)
    except NoSuchIngestTable:
        if create is None:
            raise
        table = catalog.create(endpoint.namespace, endpoint.table, create)
    if create is not None:
        _check_definition(table, create)
    return table


def _fixed(table: IngestTable, values: Mapping[str, object]) -> dict[str, pa.Scalar]:
    """Return the fixed values of partition columns, of the types of these.

    Raises:
        BadFixedValue: one is no value of a partition column.
    """
    state = table.state()
    columns = {each.name: each for each in state.columns if each.name in state.partition_columns}
    fixed = {}
    for name, value in values.items():
        if name not in columns:
            known = f"one of its partition columns: {' '.join(sorted(columns)) or 'it has none'}"
            raise BadFixedValue(table=table.name, column=name, found=value, expected=known)
        try:
            parsed = parse_text(columns[name], value) if isinstance(value, str) else None
        except BadValue:
            parsed = None
        if parsed is None:
            expected = f"the text of a {columns[name].type}"
            raise BadFixedValue(table=table.name, column=name, found=value, expected=expected)
        fixed[name] = pa.scalar(parsed, text_type(columns[name]).arrow)
    return fixed


def _check_definition(table: IngestTable, spec: TableSpec) -> None:
    """Compare a table with its definition; it may have more columns, which are null in new rows.

    Raises:
        TableMismatch: columns, types or partition columns differ.
    """
    state = table.state()
    there, expected = _described(state.columns), _described(spec.columns)
    found = {name: text for name, text in there.items() if name in expected or text.endswith(_REQUIRED)}
    if found != expected:
        wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
        has, wanted = (_listed(of, wrong) for of in (there, expected))
        raise TableMismatch(table=table.name, found=f"columns {has}", expected=wanted)
    if state.partition_columns != spec.partition_columns:
        has, wanted = (" ".join(each) or "none" for each in (state.partition_columns, spec.partition_columns))
        raise TableMismatch(table=table.name, found=f"partition columns {has}", expected=wanted)


def _described(columns: Sequence[IngestColumn]) -> dict[str, str]:
    return {each.name: each.type.replace(" ", "") + (_REQUIRED if each.is_required else "") for each in columns}


def _listed(columns: Mapping[str, str], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {columns.get(name, '(missing)')}" for name in names)


@dataclass(kw_only=True)
class Connection:
    """A connection; used by one thread, with at most one open batch.

    Attributes:
        endpoint: where to.
        agent: name of the writer.
        catalog: of the table.
        committer: of the table.
        fixed: values of the endpoint's partition columns.
        fill: adds columns to rows.
        filled: their names.
        is_sibling: another connection ends the committer and the catalog.
    """

    endpoint: Endpoint
    agent: str
    catalog: IngestCatalog
    committer: Committer
    fixed: Mapping[str, pa.Scalar] = field(default_factory=dict)
    fill: FillRows | None = None
    filled: tuple[str, ...] = ()
    is_sibling: bool = False
    _batch: TransactionBatch | None = field(default=None, init=False)
    _sequences: dict[str, int] = field(default_factory=dict, init=False)
    _is_closed: bool = field(default=False, init=False)

    @property
    def table(self) -> IngestTable:
        """Return the table."""
        return self.committer.table

    def another(self, agent: str) -> Connection:
        """Return one more connection of this process to the table; commits of all of them are grouped.

        Raises:
            ConnectionIsClosed: this one is closed.
        """
        self._require_open()
        return Connection(
            endpoint=self.endpoint,
            agent=agent,
            catalog=self.catalog,
            committer=self.committer,
            fixed=self.fixed,
            fill=self.fill,
            filled=self.filled,
            is_sibling=True,
        )

    def progress(self, name: str) -> Mapping[str, Any] | None:
        """Look at the table, and return the progress of a named writer; its next commit goes on from there.

        Raises:
            ConnectionIsClosed: the connection is closed.
        """
        self._require_open()
        state = self.table.state()
        self._sequences[name] = sequence_of(state, name)
        return progress_of(state, name) if WRITER_PROPERTY + name in state.properties else None

    def transaction_batch(
        self,
        count: int,
        writer: RecordWriter,
        *,
        timeout: timedelta = TIMEOUT,
        flush_bytes: int = FLUSH_BYTES,
        rejects: RejectRecord | None = None,
    ) -> TransactionBatch:
        """Open a batch of so many transactions; see `TransactionBatch`.

        Raises:
            BadTransactionCount: fewer than one were asked for.
            BatchIsOpen: the connection has an open one.
            ConnectionIsClosed: the connection is closed.
        """
        if count < 1:
            raise BadTransactionCount(found=count)
        self._require_open()
        if self._batch is not None and not self._batch.is_closed:
            raise BatchIsOpen(batch=self._batch.opened.batch_id)
        name, left_out = self.table.name, {*self.filled, *self.fixed}
        columns = tuple(each for each in self.table.state().columns if each.name not in left_out)
        opened = self.committer.ledger.write(lambda tx: ingest.open_batch(tx, name, self.agent, count, timeout))
        self._batch = TransactionBatch(
            committer=self.committer,
            opened=opened,
            columns=columns,
            sequences=self._sequences,
            writer=writer,
            fill=_filling(self.fill, self.fixed),
            timeout=timeout,
            flush_bytes=flush_bytes,
            rejects=rejects,
        )
        return self._batch

    def _require_open(self) -> None:
        if self._is_closed:
            raise ConnectionIsClosed(table=self.table.name)

    def close(self) -> None:
        """Close the open batch and end the connection; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._batch is not None:
                self._batch.close()
        finally:
            if not self.is_sibling:
                self.committer.close()
                self.catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _filling(fill: FillRows | None, fixed: Mapping[str, pa.Scalar]) -> FillRows:
    """Return a function that adds all columns that the record writer does not make; it can be pickled as `fill` can."""
    return partial(_filled, fill, dict(fixed))


def _filled(
    fill: FillRows | None, fixed: Mapping[str, pa.Scalar], rows: pa.Table
) -> tuple[pa.Table, Sequence[BadRecord]]:
    filled, bad = (rows, ()) if fill is None else fill(rows)
    for name, value in fixed.items():
        if name in filled.column_names:
            if set(filled[name].unique().to_pylist()) - {value.as_py()}:
                raise PartitionValueDiffers(column=name, expected=value.as_py())
        else:
            filled = filled.append_column(name, pa.repeat(value, filled.num_rows))
    return filled, bad
