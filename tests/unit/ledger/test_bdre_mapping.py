"""docs/bdre-mapping.md names every table and column of BDRE, and only tables and columns that the ledger has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolkit.ledger.tables import metadata
from toolkit.ledger.vocabulary import QueueState, RunStatus

_PAGE = (Path(__file__).resolve().parents[3] / "docs" / "bdre-mapping.md").read_text(encoding="utf-8")
_COLUMN = re.compile(r"`([a-z_]+)\.([a-z_]+)`")
_TABLE = re.compile(r"`([a-z_]+)`")
_NO_TABLES = {"default", "admins"}
_QUEUE_COLUMNS = (
    "queue_id source_batch_id target_batch_id source_process_id process_id batch_state batch_marking insert_ts "
    "start_ts end_ts"
)
_BDRE = {
    "PROCESS": (
        "process_id description add_ts process_name bus_domain_id process_type_id parent_process_id can_recover "
        "enqueuing_process_id batch_cut_pattern next_process_id delete_flag workflow_id process_template_id edit_ts "
        "process_code user_name owner_role_id user_access_id group_access_id others_access_id"
    ),
    "INSTANCE_EXEC": "instance_exec_id process_id start_ts end_ts exec_state application_id",
    "BATCH": "batch_id source_instance_exec_id batch_type",
    "BATCH_CONSUMP_QUEUE": _QUEUE_COLUMNS,
    "ARCHIVE_CONSUMP_QUEUE": "",
    "FILE": "batch_id server_id path file_size file_hash creation_ts",
    "SERVERS": (
        "server_id server_type server_name server_metainfo login_user login_password server_ip ssh_private_key"
    ),
    "PROPERTIES": "process_id prop_key config_group prop_value description",
    "PROCESS_EXECUTION_QUEUE": (
        "execution_id process_id start_ts insert_ts end_ts exec_status_id user_name bus_domain_id process_type_id "
        "exec_script_location"
    ),
    "PROCESS_LOG": "process_id instance_ref",
    **dict.fromkeys(
        (
            *("HIVE_TABLES", "ETL_DRIVER", "BUS_DOMAIN", "PROCESS_TEMPLATE", "PROPERTIES_TEMPLATE", "BATCH_STATUS"),
            *("EXEC_STATUS", "PROCESS_TYPE", "WORKFLOW_TYPE", "LINEAGE_QUERY", "LINEAGE_NODE", "LINEAGE_RELATION"),
            *("LINEAGE_QUERY_TYPE", "LINEAGE_NODE_TYPE", "USERS", "USER_ROLES"),
        ),
        "",
    ),
}


def _first_cells() -> list[str]:
    return [line.split("|")[1].strip() for line in _PAGE.splitlines() if line.startswith("| ")]


def _columns_on_page() -> dict[str, set[str]]:
    """The columns of BDRE that follow the row of each of its tables."""
    found: dict[str, set[str]] = {}
    tables: list[str] = []
    for cell in _first_cells():
        bold = re.findall(r"\*\*([A-Z_]+)\*\*", cell)
        tables = bold or tables
        for table in tables:
            found.setdefault(table, set()).update(() if bold else cell.split(", "))
    return found


@pytest.mark.parametrize("table", sorted(_BDRE))
def test_every_table_and_column_of_bdre_has_a_row(table: str) -> None:
    on_page = _columns_on_page()
    assert table in on_page
    assert set(_BDRE[table].split()) <= on_page[table]


def test_every_column_of_ours_that_is_named_exists() -> None:
    named = _COLUMN.findall(_PAGE)
    existing = {(table.name, column.name) for table in metadata.tables.values() for column in table.columns}
    assert sorted(set(named) - existing - {("defaults", "yaml"), ("repo", "yaml")}) == []
    assert set(_TABLE.findall(_PAGE)) - _NO_TABLES <= set(metadata.tables)


def test_every_table_of_ours_is_named() -> None:
    assert set(metadata.tables) <= {*_TABLE.findall(_PAGE), *(table for table, _ in _COLUMN.findall(_PAGE))}


def test_every_state_of_ours_has_a_counterpart_or_a_reason() -> None:
    states = _PAGE.partition("## States")[2].partition("## What BDRE")[0]
    words = set(re.findall(r"[a-z_]+", states))
    assert {each.value for each in (*RunStatus, *QueueState)} <= words
