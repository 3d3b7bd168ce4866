"""The dependencies of an instance: as rows of a table and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.rendering.cells import cell

if TYPE_CHECKING:
    from toolkit.management.dependencies import Dependency, InstanceDependencies

DEPENDENCY_COLUMNS = ("cluster", "relation", "kind", "name", "through", "where", "instance", "state")


def dependency_rows(found: InstanceDependencies) -> Iterator[Sequence[str]]:
    """A row for each instance that has to do with the one in question."""
    for cluster, dependencies in found.dependencies:
        yield from ((cluster, *_cells(each)) for each in dependencies)


def _cells(each: Dependency) -> Sequence[str]:
    where = f"{each.cluster} from {each.counterpart}" if each.counterpart else each.cluster
    what = each.instance_key or each.note
    return (str(each.relation), str(each.kind), each.name, cell(each.through), where, cell(what), cell(each.state))


def dependency_document(found: InstanceDependencies) -> dict[str, object]:
    """Dependencies as JSON."""
    return {
        "name": found.name,
        "kind": found.kind,
        "instance": found.instance_key,
        "clusters": [
            {"cluster": cluster, "dependencies": [_document(each) for each in dependencies]}
            for cluster, dependencies in found.dependencies
        ],
    }


def _document(each: Dependency) -> dict[str, object]:
    return {
        "relation": each.relation,
        "kind": each.kind,
        "name": each.name,
        "through": each.through,
        "cluster": each.cluster,
        "counterpart": each.counterpart or None,
        "life_cycle": each.life_cycle,
        "instance": each.instance_key,
        "note": each.note or None,
        "state": each.state,
    }
