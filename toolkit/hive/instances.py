"""Which partitions of a table an instance is made of."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.catalog.partition_name import split_name

if TYPE_CHECKING:
    from toolkit.el import TableUri
    from toolkit.el.periods import PathPeriod


@dataclass(kw_only=True)
class NamedInstances:
    """The partitions of a table by the instances that they belong to; names are asked for once.

    Safe between threads.

    Attributes:
        uri: which partitions belong to which instance.
        names: of all partitions.
    """

    uri: TableUri
    names: Callable[[], Sequence[str]]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _found: list[tuple[datetime, list[tuple[PathPeriod, str]]]] | None = field(default=None, init=False, repr=False)

    def of(self, instant: datetime) -> tuple[str, ...]:
        """The names of an instance's partitions, sorted.

        Raises:
            CatalogError: the metastore cannot tell.
        """
        with self._lock:
            if self._found is None:
                self._found = self._by_first()
        at = bisect_right(self._found, instant, key=lambda each: each[0])
        return tuple(sorted(name for period, name in self._found[at - 1][1] if instant in period)) if at else ()

    def _by_first(self) -> list[tuple[datetime, list[tuple[PathPeriod, str]]]]:
        """Return the partitions by first instant; names that do not conform belong to no instance."""
        found: dict[datetime, list[tuple[PathPeriod, str]]] = {}
        for name in self.names():
            period = self.uri.period_of(split_name(name))
            if period is not None:
                found.setdefault(period.first, []).append((period, name))
        return sorted(found.items(), key=lambda each: each[0])
