from __future__ import annotations

import pytest

from toolkit.el import ElError
from toolkit.planning.instance_storage import PartitionExpression

COLO = {"cluster.colo": "fra", "cluster.name": "primary"}


def texts(expression: str, variables: dict[str, str]) -> list[str]:
    return [part.text for part in PartitionExpression(expression).bind(variables)]


def test_each_part_between_slashes_is_bound() -> None:
    assert texts("*/${cluster.colo}", COLO) == ["*", "fra"]
    assert texts("de-${cluster.name}", COLO) == ["de-primary"]


def test_a_variable_without_a_value_stays() -> None:
    assert texts("${region}/${cluster.colo}", COLO) == ["${region}", "fra"]


def test_variables_say_where_in_the_text_they_stand() -> None:
    found = [(each.name, each.position) for each in PartitionExpression("*/${cluster.colo}/x-${region}").variables]
    assert found == [("cluster.colo", 2), ("region", 20)]


@pytest.mark.parametrize(("text", "expected"), [("*/US", False), ("*", False), ("${cluster.colo}", True)])
def test_only_variables_make_an_expression_of_it(text: str, expected: bool) -> None:  # noqa: FBT001 - a table of cases
    assert PartitionExpression(text).has_expression is expected


def test_a_value_is_one_name() -> None:
    with pytest.raises(ElError, match="expected one name without a slash"):
        PartitionExpression("${site}").bind({"site": "fra/1"})
