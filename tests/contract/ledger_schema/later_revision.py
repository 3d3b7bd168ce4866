"""A revision that comes after the first one, so that upgrades have something to do: a table more and a column more."""

from __future__ import annotations

import sys

import sqlalchemy as sa
from alembic import op

from toolkit.ledger import migrations
from toolkit.ledger.schema_version import REVISIONS

LATER = "9000"
WITH_LATER = (*REVISIONS, LATER)

sys.modules[f"{migrations.__name__}.revision_{LATER}"] = sys.modules[__name__]


def upgrade() -> None:
    """Make the changes."""
    op.create_table("later", sa.Column("later_id", sa.Integer, primary_key=True))
    op.add_column("run", sa.Column("later", sa.Text))
