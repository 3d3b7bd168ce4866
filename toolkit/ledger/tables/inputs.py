"""Tables of the inputs that process runs read, and of late checks (DESIGN section 6, Input fingerprints)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata, partial_index
from toolkit.ledger.vocabulary import LateCheckResult

input_fingerprint = sa.Table(
    "input_fingerprint",
    metadata,
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), primary_key=True, comment="the run that read it"),
    sa.Column("input", sa.String(120), primary_key=True, comment="the name of the input in the process"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="which instance of the feed"),
    sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
    sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
    sa.Column("uri", sa.Text, nullable=False, comment="where the data is"),
    sa.Column("files", Number, nullable=False, comment="so many; 0: there were none"),
    sa.Column("size", Number, nullable=False, comment="bytes of all files"),
    sa.Column("newest_at", UtcTime, comment="the last change of a file; empty: there were none"),
    sa.Column("digest", sa.String(64), nullable=False, comment="of names, sizes and changes; SHA-256, hexadecimal"),
    sa.Column("listing", sa.LargeBinary, comment="names, sizes and changes, zlib of JSON; empty: too many files"),
    sa.Column("looked_at", UtcTime, nullable=False, comment="when the files were listed, before they were read"),
    comment="what each input of a run was when it was read, so that late data shows",
)

late_check = sa.Table(
    "late_check",
    metadata,
    sa.Column("process", sa.String(120), primary_key=True, comment="the process"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="where"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="which instance of the process"),
    sa.Column("due_at", UtcTime, primary_key=True, comment="the check's time by the process's policy"),
    sa.Column("is_last", sa.Boolean, nullable=False, comment="no check of the instance follows"),
    sa.Column("verdict", Choice(LateCheckResult), nullable=False, comment="what it found"),
    sa.Column("cause", sa.Text, comment="what has changed, for people"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), comment="the attempt that late data led to"),
    sa.Column("recorded_at", UtcTime, nullable=False, comment="when it was made"),
    partial_index("ix_late_check_run_id", "run_id", where="run_id IS NOT NULL"),
    partial_index("ix_late_check_last", "process", "cluster", "instance_key", where="is_last"),
    comment="checks for late data that were made",
)
