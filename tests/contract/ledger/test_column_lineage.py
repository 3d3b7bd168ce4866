"""Column lineage in the ledger: kept once, walked up and down, and only what steps still execute."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import begun, key
from toolkit.entities.repo import RepoSettings
from toolkit.entities.repository import Repository
from toolkit.ledger import column_lineage
from toolkit.ledger.column_lineage import LineageNode, StatementLineage
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import lineage_node, lineage_query, lineage_relation, lineage_run_query
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.lineage.columns import Schemas, UnknownColumn, column_graph
from toolkit.lineage.graph import LineageGraph
from toolkit.lineage.statements import statement_lineage

pytestmark = pytest.mark.both_databases
NO_ENTITIES = Repository(
    clusters={},
    feeds={},
    processes={},
    datasources={},
    settings=RepoSettings(),
    environment=None,
    environments={},
    holds=(),
    entries={},
)
SCHEMAS = Schemas(columns={f"default.{name}": ("a", "b") for name in ("raw", "mid", "top")})
MID, TOP = "INSERT INTO mid SELECT a, count(*) FROM raw WHERE b > 0 GROUP BY a", "INSERT INTO top SELECT a, b FROM mid"


def run_of(ledger: Ledger, entity: str = "p", instance: str = "2026-03-20T12:00Z") -> Run:
    """A run of a process."""
    return begun(ledger, key(instance, entity=entity, life_cycle=LifeCycle.EXECUTION))


def recorded(ledger: Ledger, sql: str, run: Run | None = None, step: str = "s") -> tuple[StatementLineage, ...]:
    """Record the statements of a step."""
    found = statement_lineage(sql, SCHEMAS)
    run_id = (run or run_of(ledger)).run_id
    ledger.write(lambda tx: column_lineage.record(tx, found, run_id, step))
    return found


def graph_of(
    ledger: Ledger, column: str, *, up: bool = True, down: bool = True, depth: int | None = None, limit: int = 2000
) -> LineageGraph:
    """The lineage of a column."""
    return ledger.read(lambda tx: column_graph(tx, NO_ENTITIES, column, up=up, down=down, depth=depth, limit=limit))


def counts(ledger: Ledger) -> list[int]:
    """How many rows each table has."""
    tables = (lineage_query, lineage_node, lineage_relation, lineage_run_query)
    return ledger.read(lambda tx: [len(tx.execute(each.select()).all()) for each in tables])


def test_a_column_is_followed_up_and_down_over_statements_of_several_runs(ledger: Ledger) -> None:
    recorded(ledger, MID, run_of(ledger, "p"))
    recorded(ledger, TOP, run_of(ledger, "q"))

    up = graph_of(ledger, "default.top.a", down=False)
    down = graph_of(ledger, "default.raw.b", up=False)

    assert {"column:default.mid.a", "column:default.raw.a", "column:default.raw.b", "table:default.raw"} <= set(
        up.vertices
    )
    assert "column:default.top.b" not in up.vertices
    assert {"table:default.mid", "column:default.top.a", "column:default.top.b"} <= set(down.vertices)
    assert "column:default.raw.a" not in down.vertices
    (counted,) = [each for each in graph_of(ledger, "default.mid.b", down=False).edges if each.kind == "aggregate"]
    assert graph_of(ledger, "default.mid.b").vertices[counted.source].name == "COUNT(*)"


def test_what_is_down_of_a_column_has_it_up_of_it(ledger: Ledger) -> None:
    recorded(ledger, f"{MID};{TOP}", run_of(ledger))
    everything = [each.name for each in graph_of(ledger, "default.raw").vertices.values() if each.kind == "column"]

    assert len(everything) == 6
    for one in everything:
        below = graph_of(ledger, one, up=False).vertices
        assert {each for each in everything if f"column:{each}" in below} == {
            each for each in everything if f"column:{one}" in graph_of(ledger, each, down=False).vertices
        }


def test_a_statement_is_kept_once_however_often_it_runs(ledger: Ledger) -> None:
    recorded(ledger, f"{MID};{TOP}", run_of(ledger))
    before = counts(ledger)
    recorded(ledger, f"{MID};{TOP}", run_of(ledger, instance="2026-03-20T13:00Z"))

    assert counts(ledger) == [*before[:3], 4]


def test_a_statement_that_its_step_no_longer_has_is_history(ledger: Ledger) -> None:
    recorded(ledger, TOP, run_of(ledger))
    recorded(ledger, "INSERT INTO top SELECT a, 1 FROM raw", run_of(ledger, instance="2026-03-20T13:00Z"))
    recorded(ledger, MID, run_of(ledger, instance="2026-03-20T14:00Z"), step="other")

    assert "column:default.mid.a" not in graph_of(ledger, "default.top.a", down=False).vertices
    assert "column:default.raw.a" in graph_of(ledger, "default.top.a", down=False).vertices


def test_a_graph_is_cut_at_its_limit_and_its_depth(ledger: Ledger) -> None:
    recorded(ledger, f"{MID};{TOP}")

    cut = graph_of(ledger, "default.top.a", down=False, limit=2)
    assert len(cut.vertices) == 2
    assert "column:default.top.a" in cut.cut_at
    near = graph_of(ledger, "default.top.a", down=False, depth=1)
    assert set(near.vertices) == {"column:default.top.a", "column:default.mid.a", "table:default.top"}


def test_a_column_that_no_statement_has_is_an_error_that_says_what_was_expected(ledger: Ledger) -> None:
    with pytest.raises(UnknownColumn, match=r"'x\.y\.z'; expected DB\.TABLE\.COL"):
        graph_of(ledger, "x.y.z")


def test_a_path_feed_and_names_with_dots_are_found(ledger: Ledger) -> None:
    nodes = [LineageNode(table="clicks", column="url"), LineageNode(table="/a.b/c", column="k")]
    relation = column_lineage.ColumnRelation(source=nodes[0], target=nodes[1], kind=column_lineage.DIRECT)
    run_id = run_of(ledger).run_id
    ledger.write(lambda tx: column_lineage.record(tx, [StatementLineage.of("DECLARED", "", [relation])], run_id))

    assert set(graph_of(ledger, "clicks.url").vertices) >= {"column:clicks.url", "column:/a.b/c.k"}
    assert set(graph_of(ledger, "/a.b/c.k", down=False).vertices) >= {"column:clicks.url"}


def test_a_query_whose_runs_were_pruned_is_an_old_one(ledger: Ledger) -> None:
    recorded(ledger, TOP)
    ledger.write(lambda tx: tx.execute(lineage_run_query.delete()))
    assert set(graph_of(ledger, "default.top.a").vertices) == {"column:default.top.a", "table:default.top"}
