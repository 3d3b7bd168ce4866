"""Facts of one run for events about it: what it read and wrote, and what validations found in that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import sqlalchemy as sa

from toolkit.ledger import lineage, validations
from toolkit.ledger.database import Transaction
from toolkit.ledger.lineage import InstanceEdge
from toolkit.ledger.runs import queries
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.statements import given
from toolkit.ledger.tables import (
    input_fingerprint,
    lineage_edge,
    lineage_node,
    lineage_relation,
    lineage_run_query,
    verdict,
)
from toolkit.ledger.validations import StoredFinding
from toolkit.ledger.vocabulary import LineageDirection, LineageRelationKind, RunStatus


class ReportedColumn(NamedTuple):
    """Relation of columns by a statement of a run; a table without a column stands for its rows."""

    source_table: str
    source: str
    target_table: str
    target: str
    kind: LineageRelationKind


_MOST_COLUMNS = 5_000


@dataclass(frozen=True, kw_only=True, slots=True)
class RunReport:
    """Facts of a run.

    Attributes:
        status: None: the run is not recorded.
        reads: instances that it read: all of them once it has succeeded, and those with a fingerprint before.
        writes: instances that it wrote; empty until it has succeeded.
        findings: of its validations, by feed and cluster.
        columns: that its statements relate.
    """

    status: RunStatus | None = None
    reads: Sequence[InstanceEdge] = ()
    writes: Sequence[InstanceEdge] = ()
    findings: Mapping[tuple[str, str], Sequence[StoredFinding]] = field(default_factory=dict)
    columns: Sequence[ReportedColumn] = ()


NO_REPORT = RunReport()


def run_report(tx: Transaction, run_id: int) -> RunReport:
    """Return the facts of a run.

    Raises:
        UnknownRun: there is no run of this number.
    """
    found = queries.get(tx, run_id)
    reads = lineage.of_runs(tx, [run_id], LineageDirection.INPUT)
    return RunReport(
        status=found.status,
        reads=list(reads) or list(tx.rows(InstanceEdge, _LOOKED_AT, {"of_run": run_id})),
        writes=list(lineage.of_runs(tx, [run_id], LineageDirection.OUTPUT)),
        findings=_findings(tx, found),
        columns=_columns(tx, run_id),
    )


_READ = input_fingerprint.c
_LOOKED_AT = sa.select(
    *(_READ.run_id, _READ.feed, _READ.cluster, _READ.instance_key, _READ.input.label("name"), _READ.uri),
    *(_READ.looked_at.label("at"), _READ.digest.label("fingerprint")),
    sa.literal(LineageDirection.INPUT, lineage_edge.c.direction.type).label("direction"),
).where(_READ.run_id == given(_READ.run_id, "of_run"))


def _findings(tx: Transaction, found: Run) -> dict[tuple[str, str], list[StoredFinding]]:
    """Return the findings of a run; results are found by their time, which has an index."""
    of_run = sa.select(verdict.c.verdict_id, verdict.c.feed, verdict.c.cluster)
    since = verdict.c.recorded_at >= (found.started_at or found.created_at)
    pairs = {
        number: (feed, where)
        for number, feed, where in tx.execute(of_run.where(since, verdict.c.run_id == found.run_id))
    }
    by_pair: dict[tuple[str, str], list[StoredFinding]] = {}
    for number, findings in validations.findings_of(tx, list(pairs)).items():
        by_pair.setdefault(pairs[number], []).extend(findings)
    return by_pair


def _columns(tx: Transaction, run_id: int) -> list[ReportedColumn]:
    source, target = lineage_node.alias("source"), lineage_node.alias("target")
    related = lineage_relation.c
    wanted = (
        sa.select(source.c.table_name, source.c.column_name, target.c.table_name, target.c.column_name, related.kind)
        .join_from(lineage_run_query, lineage_relation, related.query_digest == lineage_run_query.c.query_digest)
        .join(source, source.c.node_id == related.source_node)
        .join(target, target.c.node_id == related.target_node)
        .where(lineage_run_query.c.run_id == run_id, source.c.column_name != "", target.c.table_name != "")
        .distinct()
        .limit(_MOST_COLUMNS)
    )
    return sorted(ReportedColumn(*each) for each in tx.execute(wanted))
