"""Tables of streaming ingest: batches of transactions, the transactions, and which process may commit to a table."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata
from toolkit.ledger.vocabulary import IngestBatchState, IngestTransactionState

ingest_batch = sa.Table(
    "ingest_batch",
    metadata,
    sa.Column("batch_id", Number, primary_key=True, comment="number of the batch"),
    sa.Column("table_name", sa.Text, nullable=False, comment="catalog, namespace and table, separated by dots"),
    sa.Column("agent", sa.String(120), nullable=False, comment="name that the writer gave itself"),
    sa.Column("state", Choice(IngestBatchState), nullable=False, comment="whether it may still commit"),
    sa.Column("timeout_seconds", sa.Float, nullable=False, comment="the batch lapses this long after a heartbeat"),
    sa.Column("expires_at", UtcTime, nullable=False, comment="when it lapses unless another heartbeat comes"),
    sa.Index("ix_ingest_batch_state", "state", "table_name", "expires_at"),
    comment="batches of transactions of streaming ingest",
)

ingest_transaction = sa.Table(
    "ingest_transaction",
    metadata,
    sa.Column("transaction_id", Number, primary_key=True, comment="number of the transaction, in its snapshot too"),
    sa.Column("batch_id", Number, sa.ForeignKey("ingest_batch.batch_id"), nullable=False, comment="its batch"),
    sa.Column("table_name", sa.Text, nullable=False, comment="catalog, namespace and table, separated by dots"),
    sa.Column("state", Choice(IngestTransactionState), nullable=False, comment="how far it is"),
    sa.Column("fence", Number, nullable=False, comment="of the slot that intended it; 0: none did"),
    sa.Column("intended_at", UtcTime, comment="when its commit to the table was about to begin"),
    sa.Column("partitions", sa.Text, comment="values of the partition columns that it touches, JSON"),
    sa.Column("rows", Number, comment="number of its rows"),
    sa.Column("bytes", Number, comment="size of its data files"),
    sa.Column("files", Number, comment="number of its data files"),
    sa.Index("ix_ingest_transaction_state", "state", "table_name"),
    sa.Index("ix_ingest_transaction_batch_id", "batch_id"),
    comment="transactions of streaming ingest; the table itself says which of them were committed",
)

ingest_slot = sa.Table(
    "ingest_slot",
    metadata,
    sa.Column("table_name", sa.Text, primary_key=True, comment="catalog, namespace and table, separated by dots"),
    sa.Column("fence", Number, nullable=False, comment="raised each time that the slot is taken"),
    sa.Column("holder", sa.Text, nullable=False, comment="process that may commit, JSON; empty: none"),
    sa.Column("expires_at", UtcTime, nullable=False, comment="when another may take the slot"),
    sa.Column("next", sa.Text, nullable=False, comment="process that gets the slot next, JSON; empty: none waits"),
    sa.Column("next_expires_at", UtcTime, nullable=False, comment="when another may wait in its place"),
    comment="which process may commit to a table that is ingested",
)
