"""A Spark context of our own: quiet, without speculation, and with this process's signal handlers left alone."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException

from toolkit.java import warn_of_missing_java
from toolkit.transfer.adapters.spark_pool import SparkExecutorPool, why
from toolkit.transfer.errors import NoSpark
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_OURS = {
    "spark.speculation": "false",  # two attempts at the same task would both delete
    "spark.python.task.killTimeout": "0ms",  # the Python of a cancelled task lives on for so long, and two seconds
    "spark.ui.showConsoleProgress": "false",
}
_GATEWAY = "PYSPARK_GATEWAY_PORT"
"""Variable by which spark-submit says where its Java is, which this process uses."""
_UNLESS_SET = {
    "spark.app.name": "feedctl",
    "spark.master": "local[2]",  # a driver that spark-submit did not start
    "spark.log.level": "WARN",
    "spark.ui.enabled": "false",  # the jobs take seconds
}


@dataclass(kw_only=True)
class SparkApplication(SparkExecutorPool):
    """Executors with the context that they belong to."""

    def get_ready(self, check: Callable[[], None]) -> None:
        """Wait until executors work and have what is needed; then `parallel` counts those that are there.

        Args:
            check: as for `run`.

        Raises:
            NoExecutors: none has started for too long.
            TasksFailed: they lack a Python, or feedctl.
        """
        for _ in self.run(loaded, range(self.parallel), check=check):
            pass

    def close(self) -> None:
        """Stop the context; a JVM that is gone has stopped it already."""
        with suppress(Py4JError, OSError):
            self.context.stop()


def loaded(number: int, attempt: int) -> Iterable[int]:
    """Return the number; by running this, an executor has imported what any work needs."""
    del attempt
    return [number]


def opened(settings: Mapping[str, str] = MappingProxyType({})) -> SparkApplication:
    """Executors, with a new context.

    Args:
        settings: above those that spark-submit gave.

    Raises:
        NoSpark: Spark could not make it.
    """
    variables = process_variables()
    if SparkContext._gateway is None and _GATEWAY not in variables:  # noqa: SLF001 - pyspark's own way to know it
        warn_of_missing_java(variables)
    try:
        with _signals_kept():
            context = SparkContext(conf=_conf(settings))
    except (Py4JError, PySparkException, OSError, ValueError, RuntimeError) as error:
        raise NoSpark(why=why(error)) from error
    return SparkApplication(context=context)


def _conf(settings: Mapping[str, str]) -> SparkConf:
    """The settings of the context; without the JVM it is unknown which of them spark-submit gave."""
    SparkContext._ensure_initialized()  # noqa: SLF001 - the way to the JVM that SparkContext itself takes
    conf = SparkConf()
    for key, value in {**settings, **_OURS}.items():
        conf.set(key, value)
    for key, value in _UNLESS_SET.items():
        conf.setIfMissing(key, value)
    return conf


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Spark's handler of Ctrl-C would raise in the middle of a deletion; ours lets it end (DESIGN section 1)."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)
