"""Samples of metrics, and the bound on how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from toolkit.metrics.metric import Fold, MetricDefinition

ENTITY_LABEL = "entity"
OTHER = "other"
"""Name of the entity that stands for all entities beyond the bound."""

_FOLDED: dict[Fold, Callable[[Iterable[float]], float]] = {Fold.SUM: sum, Fold.MAX: max, Fold.MIN: min}


class Sample(NamedTuple):
    """Value of one time series.

    Attributes:
        metric: which metric.
        labels: values of its labels, in their order.
        value: at the time of the collection.
    """

    metric: MetricDefinition
    labels: tuple[str, ...]
    value: float

    @property
    def entity(self) -> str | None:
        """The entity; None: the metric has none."""
        labels = self.metric.labels
        return self.labels[0] if labels and labels[0] == ENTITY_LABEL else None


def bounded(samples: Sequence[Sample], most: int, first: Collection[str] = ()) -> tuple[list[Sample], int]:
    """Keep a number of series, and count all entities beyond it together as `OTHER`.

    Which entities stay depends on names alone and not on values, so that a series does not come and go.

    Args:
        samples: of all entities.
        most: series to keep; those without an entity, and those of `OTHER`, are kept even if they alone are more.
        first: entities that stay rather than others.

    Returns:
        The samples, and how many series were counted together or left out.
    """
    if len(samples) <= most:
        return list(samples), 0
    of_entities = [each for each in samples if each.entity is not None]
    sizes = Counter(each.entity for each in of_entities)
    left = most - (len(samples) - len(of_entities)) - len({_other_key(each) for each in of_entities})
    kept: set[str | None] = {None}
    for entity in sorted(sizes, key=lambda name: (name == OTHER, name not in first, name)):
        left -= sizes[entity]
        if left < 0:
            break
        kept.add(entity)
    own = [each for each in samples if each.entity in kept]
    return [*own, *_folded(each for each in of_entities if each.entity not in kept)], len(samples) - len(own)


def _other_key(sample: Sample) -> tuple[str, ...]:
    return (sample.metric.name, *sample.labels[1:])


def _folded(samples: Iterable[Sample]) -> list[Sample]:
    groups: dict[tuple[str, ...], list[Sample]] = {}
    for each in samples:
        if each.metric.fold is not Fold.NONE:
            groups.setdefault(_other_key(each), []).append(each)
    return [
        group[0]._replace(
            labels=(OTHER, *group[0].labels[1:]),
            value=_FOLDED[group[0].metric.fold](each.value for each in group),
        )
        for group in groups.values()
    ]
