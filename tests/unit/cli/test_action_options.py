"""Tests of what the options of entrypoints say of themselves is so."""

from __future__ import annotations

import pytest
import typer

from entrypoints import hive_export, hive_import, hive_replication, late_check, process, replication, trigger
from toolkit.bootstrap.hive import PARALLEL as OF_TABLES
from toolkit.bootstrap.process import MOST_AT_ONCE
from toolkit.bootstrap.replication import PARALLEL


@pytest.mark.parametrize(
    ("app", "default"),
    [
        (replication.app, PARALLEL),
        *((each.app, OF_TABLES) for each in (hive_export, hive_import, hive_replication)),
        *((each.app, MOST_AT_ONCE) for each in (process, late_check, trigger)),
    ],
)
def test_the_help_of_parallel_has_its_default(app: typer.Typer, default: int) -> None:
    (option,) = (each for each in typer.main.get_command(app).params if each.name == "parallel")
    help_text = getattr(option, "help", "")
    assert help_text.endswith(f" {default}.")
