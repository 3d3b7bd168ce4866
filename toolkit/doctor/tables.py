"""Checks that a table feed's table exists, is supported, and has partitions that belong to the feed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.catalog.feed_keys import wrong_keys
from toolkit.catalog.formats import table_format, unsupported_reason
from toolkit.catalog.model import TableName
from toolkit.catalog.partition_name import values_by_key
from toolkit.doctor.findings import CheckResult, failed, ok, warning

if TYPE_CHECKING:
    from toolkit.catalog.model import Table
    from toolkit.catalog.port import Metastore
    from toolkit.el.table_uri import TableUri

_KEYS_TODO = "name the keys of the table in the feed's `table`, the dated one first"


def table_findings(metastore: Metastore, uri: TableUri) -> Iterator[CheckResult]:
    """Yield what prevents the feed's actions on its table, else the number of its partitions.

    Raises:
        CatalogError: the metastore does not answer, or has no such table.
    """
    table = metastore.table(TableName(uri.database, uri.table))
    keys = ", ".join(f"{key.name} {key.type}" for key in table.keys)
    if reason := unsupported_reason(table):
        found, _, todo = reason.partition("; ")
        yield failed(found, todo=todo)
    elif table.kind.is_view:
        yield failed(f"{table.name} is a view, which has no partitions", todo="name its tables as feeds")
    elif wrong := list(wrong_keys(table, uri)):
        yield failed(f"{table.name}: {'; '.join(wrong)}; its keys are: {keys or 'none'}", todo=_KEYS_TODO)
    else:
        yield _partition_finding(metastore, table, uri, keys)


def _partition_finding(metastore: Metastore, table: Table, uri: TableUri, keys: str) -> CheckResult:
    names = metastore.partition_names(table.name)
    specs = {name: values_by_key(name, uri.partition_keys) for name in names}
    others = [name for name, spec in specs.items() if uri.period_of(spec) is None]
    found = f"{table.name} ({table_format(table)}, {keys}): {len(names)} partitions"
    if not others:
        return ok(found)
    todo = "nothing, if they are not the feed's: no action touches them; else see its `table`"
    return warning(
        f"{found}, {len(others)} not as the feed names them: {others[0]} {uri.explain(specs[others[0]])}",
        todo=todo,
    )
