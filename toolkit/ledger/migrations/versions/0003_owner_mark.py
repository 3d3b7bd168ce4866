"""What tells the owner of a run from other processes, so that its death is known before its lease ends."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Runs from before have none: their leases are waited for."""
    op.add_column(
        "run",
        sa.Column(
            "owner_mark",
            sa.Text,
            comment="tells the owner's process from all others of its machine; empty: nobody can tell whether it lives",
        ),
    )
