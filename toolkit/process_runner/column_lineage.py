"""Column lineage of steps: read while a step runs, and recorded with its success; it never fails or delays a run."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.availability import DATA_ERRORS
from toolkit.catalog.model import TableName
from toolkit.entities import Engine, LocationType
from toolkit.errors import InvalidInput, Unavailable
from toolkit.foreign_json import BadJson
from toolkit.ledger import column_lineage
from toolkit.ledger.jobs import steps
from toolkit.lineage.columns import Schemas, without_store
from toolkit.lineage.declared import declared_lineage
from toolkit.lineage.script_process import MOST_RELATIONS, script_lineage
from toolkit.plain_files import read_plain
from toolkit.planning.feed_columns import feed_columns, table_name
from toolkit.printable import on_one_line
from toolkit.process_runner.staging_places import as_written
from toolkit.programs import sql_text
from toolkit.programs.port import LINEAGE
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.ledger.column_lineage import StatementLineage
    from toolkit.ledger.database import Transaction
    from toolkit.planning.instance_storage import FeedStorage
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.resolution import ResolvedInstance
    from toolkit.programs.port import StepCall
    from toolkit.runs.recorder import LedgerWrite

_LOG = logging.getLogger(__name__)
_MOST_BYTES = 1 << 20
"""Limit of the size of a script, and of a schema file."""
_MOST_DECLARED = 16 << 20
"""Bytes of a file of lineage: Spark's listener writes about five events of 5 KB or more for each statement."""
_MOST_MESSAGES = 5
_TIMEOUT = 60.0
_PATIENCE = 2.0
"""Seconds after the end of a step: what is not read by then is unknown."""
_POOL = WorkerPool(2, "lineage")
CATEGORY = "lineage"
"""Category of the log entry that says what is unknown."""


def lineage_file(log: Path) -> Path:
    """Return the file of lineage of an attempt at a step; it is beside the log, which no two attempts share."""
    return log.with_name(f"{log.name}.lineage")


@dataclass(kw_only=True)
class StepColumns:
    """Column lineage of one step.

    Attributes:
        site: of its process.
        resolved: its instance.
        data: whose metastores know columns.
        call: of its engine.
    """

    site: ProcessSite
    resolved: ResolvedInstance
    data: DataAccess
    call: StepCall
    _script: Future[tuple[StatementLineage, ...]] | None = field(default=None, init=False)

    def begin(self) -> StepColumns:
        """Begin to read a script of SQL; another engine declares what it has done."""
        if self.call.engine is Engine.SPARK_SQL and find_spec("sqlglot") is not None:
            self._script = _POOL.submit(self._read_script)
        return self

    def writes(self, step: str | None) -> tuple[LedgerWrite, ...]:
        """Return what records the lineage, once the step has succeeded; none: there is none.

        Args:
            step: its name in the ledger; None: the ledger has no such step.
        """
        found: list[StatementLineage] = []
        declared = _POOL.submit(self._read_declaration) if lineage_file(self.call.log).exists() else None
        for each in [future for future in (self._script, declared) if future is not None]:
            wait([each], timeout=_PATIENCE)
            error = each.exception() if each.done() else TimeoutError()
            if error is None:
                found += each.result()
            else:  # whatever it is, the step has succeeded
                _LOG.warning('event=lineage_unknown step=%s why="%s"', self.call.step, on_one_line(repr(error)))
        return (_write(found, step),) if found else ()

    def _read_script(self) -> tuple[StatementLineage, ...]:
        try:
            script = read_plain(Path(self.call.path), _MOST_BYTES).decode()
            found = sql_text.statements(script, self.call.properties)
        except (OSError, UnicodeDecodeError, InvalidInput):  # the engine refuses such a script itself
            return ()
        return script_lineage([(each.text, each.source) for each in found], self._schemas(), _TIMEOUT)

    def _read_declaration(self) -> tuple[StatementLineage, ...]:
        try:
            data, schemas = read_plain(lineage_file(self.call.log), _MOST_DECLARED, follow=False), self._schemas()
            found, queries = declared_lineage(data, schemas)
            if sum(len(each.relations) for each in found) > MOST_RELATIONS:
                return (_unused(f"it has over {MOST_RELATIONS:,} relations"),)
        except (OSError, BadJson) as error:
            return (_unused(str(error)),)
        read = (
            script_lineage([(each, sql_text.without_texts(each)) for each in queries], schemas, _PATIENCE)
            if queries
            else ()
        )
        return (*found, *read)

    def _schemas(self) -> Schemas:
        columns, paths = dict[str, tuple[str, ...]](), dict[str, str]()
        written = [*self.resolved.outputs, *(as_written(self.site, each) for each in self.resolved.outputs)]
        for each in self.resolved.inputs:
            columns.update(self._columns(each.storage))
            paths.update(dict.fromkeys(each.paths(), each.storage.feed))
        for output in written:
            columns.update(self._columns(output.storage))
            if LocationType.DATA in output.instance.paths:
                paths[output.instance.paths[LocationType.DATA]] = output.storage.feed
        qualified = {without_store(self.site.qualified(path)): feed for path, feed in paths.items()}
        return Schemas(columns=columns, paths=qualified)

    def _columns(self, storage: FeedStorage) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the columns of a feed: of the metastore if it has the table, else of the config repo."""
        feed, cluster = self.site.feeds[storage.feed], self.site.cluster
        found = feed_columns(feed, cluster.name, self._file)
        if storage.table is not None:
            with suppress(InvalidInput, Unavailable, *DATA_ERRORS):
                if feed.cluster(cluster.name).ingest is None:
                    table = self.data.metastores(cluster).table(TableName(storage.table.database, storage.table.table))
                    found = tuple(each.name.lower() for each in (*table.storage.columns, *table.keys))
        if found is not None:
            yield table_name(feed, cluster.name), found

    def _file(self, path: str) -> bytes | None:
        if path.startswith("/") or ".." in path.split("/"):
            return None
        with suppress(OSError, ValueError):
            return read_plain(self.call.directory / path, _MOST_BYTES)
        return None


def _unused(why: str) -> StatementLineage:
    return column_lineage.StatementLineage.of("DECLARED", "", unknown=f"the file of {LINEAGE} is not used: {why}")


def _write(found: list[StatementLineage], step: str | None) -> LedgerWrite:
    unknown = [f"{each.type.lower()}: {each.unknown}" for each in found if each.unknown]

    def write(tx: Transaction, run_id: int) -> None:
        column_lineage.record(tx, found, run_id, step or "")
        for why in unknown[:_MOST_MESSAGES]:
            message = column_lineage.storable(f"column lineage is unknown: {why}")
            steps.write_log(tx, run_id, CATEGORY, message, step_name=step)

    return write
