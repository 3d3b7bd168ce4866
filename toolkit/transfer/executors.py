"""Spark's executors for a run: made ready when they are wanted, given back at the end (DESIGN section 1)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from toolkit.errors import Unavailable
from toolkit.transfer.errors import NoSpark
from toolkit.transfer.port import ExecutorPool

if TYPE_CHECKING:
    from types import ModuleType

_ADAPTER = "toolkit.transfer.adapters.spark_executors"


class Application(ExecutorPool, Protocol):
    """Executors that a cluster may still have to start, and that are given back."""

    def get_ready(self, check: Callable[[], None]) -> None:
        """Wait until they have started.

        Raises:
            Unavailable: they do not start, or lack what is needed.
        """
        ...

    def close(self) -> None:
        """Give them back."""
        ...


@dataclass(kw_only=True)
class Executors:
    """The executors of this process, at most once made ready.

    Attributes:
        load: gives the module that knows Spark.
        check: called while they start; what it raises ends the waiting.
    """

    load: Callable[[], ModuleType]
    check: Callable[[], None]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _application: Application | None = field(default=None, init=False)
    _is_ready: bool = field(default=False, init=False)
    _failure: Unavailable | None = field(default=None, init=False)

    def open(self) -> ExecutorPool:
        """The machines, made ready by the first call: that takes seconds, and more while a cluster has no room.

        Threads wait for each other here, since a process has one application. A sender of tasks with a deadline must
        not count the time that a cluster takes to start executors.

        Raises:
            Unavailable: there is no pyspark, no context, or no executor that can work; nor is that tried again.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            try:
                application = self.start()
                if not self._is_ready:
                    application.get_ready(self.check)
                    self._is_ready = True
            except Unavailable as error:
                self._failure = error
                raise
            return application

    def start(self) -> Application:
        """The application, with its context; its executors may still be on their way.

        Raises:
            NoSpark: there is no pyspark, or its context cannot be made.
        """
        if self._application is None:
            self._application = self._started()
        return self._application

    def close(self) -> None:
        """Give them back, if there are any."""
        if self._application is not None:
            self._application.close()
            self._application = None

    def _started(self) -> Application:
        try:
            module = self.load()
        except ImportError as error:
            raise NoSpark(why=str(error)) from error
        application: Application = module.opened()
        return application


def load_adapter() -> ModuleType:
    """The module that knows Spark; the time to load it is spent only by runs that want machines."""
    return import_module(_ADAPTER)


def go_on() -> None:
    """Nothing ends the waiting."""


@contextmanager
def executors(
    variables: Mapping[str, str],
    *,
    check: Callable[[], None] = go_on,
    load: Callable[[], ModuleType] = load_adapter,
) -> Iterator[Executors]:
    """Executors while the body runs.

    Args:
        variables: of the environment.
        check: as for `Executors`.
        load: as for `Executors`.

    Raises:
        NoSpark: the driver needs a context, and it cannot be made.
    """
    machines = Executors(load=load, check=check)
    try:
        if must_have_context(variables):
            machines.start()
        yield machines
    finally:
        machines.close()


def must_have_context(variables: Mapping[str, str]) -> bool:
    """Return whether this is a driver in YARN cluster mode: YARN ends a driver without a context in 100 seconds.

    Seen by the container, and by the folder that Spark names to its application master: the launcher of Oozie has a
    container as well, and starts drivers in client mode, which need no context.
    """
    in_container = variables.get("CONTAINER_ID", "").startswith("container_")
    return in_container and "SPARK_YARN_STAGING_DIR" in variables and "PYSPARK_GATEWAY_PORT" in variables
