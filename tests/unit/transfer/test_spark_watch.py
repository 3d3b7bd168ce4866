"""An application that nobody works for is given up."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from py4j.protocol import Py4JNetworkError

from toolkit.transfer.adapters.spark_pool import IdleWatch
from toolkit.transfer.errors import NoExecutors

if TYPE_CHECKING:
    from pyspark import SparkContext


@dataclass
class FakeContext:
    """A context with one stage, and the clock of the test."""

    time: float = 0.0
    active: int = 0
    is_gone: bool = False
    calls: list[float] = field(default_factory=list)

    def statusTracker(self) -> FakeContext:  # noqa: N802 - Spark's name
        """Tells about stages."""
        self.calls.append(self.time)
        if self.is_gone:
            raise Py4JNetworkError
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802 - Spark's name
        """One stage, and one that is over by now."""
        return [4, 5]

    def getStageInfo(self, number: int) -> SimpleNamespace | None:  # noqa: N802 - Spark's name
        """None for what is over."""
        return SimpleNamespace(numActiveTasks=self.active) if number == 4 else None

    def watch(self) -> IdleWatch:
        """A patience of ten seconds."""
        return IdleWatch(context=cast("SparkContext", self), seconds=10, now=lambda: self.time)


def test_nothing_going_on_for_too_long_is_an_error_that_says_for_how_long() -> None:
    spark = FakeContext()
    watch = spark.watch()
    for spark.time in range(1, 11):
        watch.look(open_tasks=3)
    spark.time = 11
    with pytest.raises(NoExecutors, match="no executor took any of 3 tasks for 10 s"):
        watch.look(open_tasks=3)


def test_a_task_that_is_under_way_or_over_starts_the_time_anew() -> None:
    spark = FakeContext()
    watch = spark.watch()
    for spark.time in range(1, 60):
        spark.active = int(spark.time == 9)
        watch.look(open_tasks=3 if spark.time < 15 else 2)
        if spark.time == 24:
            break
    spark.time, spark.active = 25, 0
    with pytest.raises(NoExecutors):
        watch.look(open_tasks=2)


def test_spark_is_asked_once_a_second() -> None:
    spark = FakeContext()
    watch = spark.watch()
    watch.look(open_tasks=1)
    for tenth in range(1, 41):
        spark.time = tenth / 10
        watch.look(open_tasks=1)
    assert len(spark.calls) <= 4


def test_a_jvm_that_is_gone_counts_as_nothing_going_on() -> None:
    spark = FakeContext(is_gone=True)
    watch = spark.watch()
    spark.time = 2
    watch.look(open_tasks=1)
    spark.time = 12
    with pytest.raises(NoExecutors):
        watch.look(open_tasks=1)
