"""Tables of lineage: instances that runs read and wrote, and columns of SQL statements (after BDRE)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata
from toolkit.ledger.vocabulary import LineageDirection, LineageNodeType, LineageRelationKind

lineage_edge = sa.Table(
    "lineage_edge",
    metadata,
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), primary_key=True, comment="a run that succeeded"),
    sa.Column("direction", Choice(LineageDirection), primary_key=True, comment="whether the run read or wrote it"),
    sa.Column("feed", sa.String(120), primary_key=True, comment="the feed"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="where"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="which instance of the feed"),
    sa.Column("name", sa.String(120), primary_key=True, comment="of the input in the process; empty: it has none"),
    sa.Column("at", UtcTime, nullable=False, comment="when the data was announced, or looked at before it was read"),
    sa.Column("uri", sa.Text, comment="where the data is, or was"),
    sa.Column("fingerprint", sa.Text, comment="digest of the files as the run read or announced them, if known"),
    sa.Index("ix_lineage_edge_instance", "feed", "cluster", "instance_key", "direction", "run_id"),
    comment="the feed instances that each successful run read and wrote; rows are added and never changed",
)

lineage_query = sa.Table(
    "lineage_query",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True, comment="of type, text and relations; SHA-256, hexadecimal"),
    sa.Column(
        "type",
        sa.String(32),
        nullable=False,
        comment="of the statement, for example INSERT; DECLARED, OPENLINEAGE: a step reported it",
    ),
    sa.Column("text", sa.Text, nullable=False, comment="the statement, with ${name} in the places of properties"),
    sa.Column("seen_at", UtcTime, nullable=False, comment="when it was recorded first"),
    comment="statements whose columns are known",
)

lineage_node = sa.Table(
    "lineage_node",
    metadata,
    sa.Column("node_id", sa.String(64), primary_key=True, comment="digest of the other columns; SHA-256, hexadecimal"),
    sa.Column("type", Choice(LineageNodeType), nullable=False, comment="what it is"),
    sa.Column("table_name", sa.Text, nullable=False, comment="database and table; empty: a function"),
    sa.Column("column_name", sa.Text, nullable=False, comment="empty: the whole table, or a function"),
    sa.Column("function", sa.Text, nullable=False, comment="the expression; empty: a table or a column"),
    sa.Index("ix_lineage_node_column", "table_name", "column_name"),
    comment="tables, columns and functions of statements",
)

lineage_relation = sa.Table(
    "lineage_relation",
    metadata,
    sa.Column(
        *("query_digest", sa.String(64), sa.ForeignKey("lineage_query.digest")),
        primary_key=True,
        comment="the statement",
    ),
    sa.Column(
        *("source_node", sa.String(64), sa.ForeignKey("lineage_node.node_id")),
        primary_key=True,
        comment="where the value comes from",
    ),
    sa.Column(
        *("target_node", sa.String(64), sa.ForeignKey("lineage_node.node_id")),
        primary_key=True,
        comment="where it goes to",
    ),
    sa.Column("kind", Choice(LineageRelationKind), primary_key=True, comment="in what way"),
    sa.Index("ix_lineage_relation_source_node", "source_node"),
    sa.Index("ix_lineage_relation_target_node", "target_node"),
    comment="which node of a statement depends on which",
)

lineage_run_query = sa.Table(
    "lineage_run_query",
    metadata,
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), primary_key=True, comment="the run that executed it"),
    sa.Column("step", sa.String(120), primary_key=True, comment="the step of its process"),
    sa.Column(
        *("query_digest", sa.String(64), sa.ForeignKey("lineage_query.digest")),
        primary_key=True,
        comment="the statement",
    ),
    sa.Index("ix_lineage_run_query_query_digest", "query_digest"),
    comment="which statements each run executed",
)
