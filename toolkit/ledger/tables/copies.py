"""Tables of copies: what a replication has put where, which rows an import has read, and what each run cost."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Number, metadata

manifest = sa.Table(
    "manifest",
    metadata,
    sa.Column("feed", sa.String(120), primary_key=True, comment="the feed"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="the target of the copy"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="which instance"),
    sa.Column("counterpart", sa.String(120), primary_key=True, comment="the source of the copy"),
    sa.Column("path", sa.Text, primary_key=True, comment="of the unit at the target: the instance, or a part of it"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), nullable=False, comment="the run that published it"),
    sa.Column("files", Number, nullable=False, comment="how many"),
    sa.Column("bytes", Number, nullable=False, comment="in them"),
    sa.Column(
        "content",
        sa.LargeBinary,
        nullable=False,
        comment="compressed JSON, a list for each file: name below the unit, bytes, digest, source's time",
    ),
    sa.Index("ix_manifest_run_id", "run_id"),
    comment="the files of what was published last at a target, with their digests",
)

exchange_mark = sa.Table(
    "exchange_mark",
    metadata,
    sa.Column("feed", sa.String(120), primary_key=True, comment="the feed"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="where the instance is"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="which instance"),
    sa.Column("source", sa.Text, nullable=False, comment="datasource, table and delta column; another one has no mark"),
    sa.Column("low", sa.Text, comment="rows above this value, or from this time on; empty: from the first"),
    sa.Column("high", sa.Text, comment="rows up to this value, or before this time; empty: to the last"),
    sa.Column("snapshot", sa.Text, comment="the database's name of the snapshot that was read"),
    sa.Column("rows", Number, nullable=False, comment="in the instance"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), nullable=False, comment="the run that imported it"),
    sa.Index("ix_exchange_mark_run_id", "run_id"),
    comment="the rows of a database that an import has read for an instance",
)

run_counter = sa.Table(
    "run_counter",
    metadata,
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), primary_key=True, comment="the run"),
    sa.Column("name", sa.String(64), primary_key=True, comment="what is counted, for example COPY"),
    sa.Column("value", Number, nullable=False, comment="how much"),
    comment="what a run counted of its work",
)
