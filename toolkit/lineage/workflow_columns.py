"""Columns that a script of SQL names, before any instance has run: for lint."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec

from toolkit.el import ElError
from toolkit.errors import InvalidInput
from toolkit.lineage.columns import Schemas, without_store
from toolkit.planning.process_io import ProcessSite
from toolkit.planning.process_properties import instance_properties
from toolkit.programs import sql_text


def columns_read(
    site: ProcessSite, script: str, columns: Mapping[str, tuple[str, ...]]
) -> Collection[tuple[str, str]] | None:
    """Return the tables and path feeds, each with a column, that a script names; None: sqlglot is not installed.

    The properties are those of the first instance. A script whose properties only a run can tell names nothing here.

    Args:
        site: the process on a cluster.
        script: of one of its steps.
        columns: of its feeds, by ``database.table`` or by the name of a path feed.
    """
    if find_spec("sqlglot") is None:
        return None
    from toolkit.lineage.statements import ScriptReader  # noqa: PLC0415 - sqlglot is optional

    try:
        first = site.process.instances_on(site.cluster.name).start
        inputs, outputs = tuple(site.inputs(first)), tuple(site.outputs(first))
        statements = sql_text.statements(script, instance_properties(site, first, inputs, outputs))
    except (ElError, InvalidInput):
        return ()
    paths = {path: each.storage.feed for each in inputs for path in each.paths()}
    reader = ScriptReader(
        schemas=Schemas(
            columns=columns, paths={without_store(site.qualified(path)): feed for path, feed in paths.items()}
        )
    )
    for each in statements:
        reader.read(each.text)
    return {(each.table, each.column) for each in reader.columns_read}
