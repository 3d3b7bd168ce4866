"""Instances as rows of a table."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.contract.ledger.samples import begun, key
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import LifeCycle, RequestKind
from toolkit.management.questions import InstanceList
from toolkit.management.rows import InstanceRow
from toolkit.rendering.instances import instance_document, instance_table


def table(*rows: InstanceRow, life_cycle: LifeCycle | None = LifeCycle.EVICTION) -> list[list[str]]:
    columns, cells = instance_table(InstanceList(name="clicks", life_cycle=life_cycle, rows=rows))
    return [list(columns), *map(list, cells)]


def test_a_text_of_others_cannot_forge_a_line(sqlite_ledger: Ledger) -> None:
    run = replace(begun(sqlite_ledger), reason="bad\nprimary  2026-03-20T12:00Z  succeeded\x1b[2J")
    (_, cells) = table(InstanceRow.of(run))
    assert cells[-1] == r"bad\nprimary  2026-03-20T12:00Z  succeeded\u001b[2J"


def test_what_its_owner_was_asked_is_noted(sqlite_ledger: Ledger) -> None:
    row = InstanceRow.of(begun(sqlite_ledger))
    assert table(replace(row, is_owned=True, open_request=RequestKind.KILL))[1][-1] == "asked to kill"
    assert table(replace(row, is_owned=False))[1][-1] == "no process works on it"
    assert table(replace(row, is_owned=True))[1][-1] == "-"


def test_copies_have_a_column_for_their_source(sqlite_ledger: Ledger) -> None:
    copy = begun(sqlite_ledger, key(life_cycle=LifeCycle.REPLICATION, counterpart="primary", cluster="backup"))
    headings, cells = table(InstanceRow.of(copy), life_cycle=None)
    assert headings[:4] == ["life-cycle", "cluster", "source", "instance"]
    assert cells[:3] == ["replication", "backup", "primary"]


def test_json_has_null_where_there_is_nothing(sqlite_ledger: Ledger) -> None:
    found = InstanceList(name="clicks", life_cycle=None, rows=(InstanceRow.of(begun(sqlite_ledger)),))
    document = json.loads(json.dumps(instance_document(found)))
    (instance,) = document["instances"]
    assert (document["life_cycle"], instance["counterpart"], instance["ended_at"]) == (None, None, None)
