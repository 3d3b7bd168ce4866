"""Time at which a run last called a metastore to register data, as the store of the data has it.

A metastore may execute a call after the run that sent it has died. Data that the call registers must then be there,
so recovery leaves it alone until no such call can come any more.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from toolkit.actions.publication import remove_wholly
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.port import CALL_SECONDS
from toolkit.errors import StopRequested, Unavailable
from toolkit.storage import OWN_PREFIX, STAGING_PREFIX, NotFound, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.el import CanonicalPath
    from toolkit.hive.table_context import TableContext
    from toolkit.storage import FileSystem

LATEST_CALL = 2 * timedelta(seconds=CALL_SECONDS)
"""A call that began so long ago is over: a run waits for half of it, and a metastore may go on as long again."""


@dataclass(kw_only=True)
class RegistrationMark:
    """File that a run writes before each call that registers data. Every call raises StorageError and StopRequested.

    All batches of the run share it, so that it stays once one of their calls had no answer. Calls may be under way side
    by side: it stays until the last of them is over.

    Attributes:
        system: the store of the data.
        root: the directory of the table, or that around one without partitions.
        run: its number.
        table: the name of the table.
    """

    system: FileSystem
    root: CanonicalPath
    run: str
    table: str
    _has_unanswered: bool = field(default=False, init=False)
    _open: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @classmethod
    def of(cls, context: TableContext, run: str) -> RegistrationMark:
        """Return the mark of a run on the table of a plan."""
        return cls(system=context.system, root=context.root, run=run, table=context.target.table.table)

    def write(self) -> None:
        """Record that a call begins now."""
        with self._lock:
            self.system.mkdirs(self._directory)
            self.system.write(self._file, [b""])

    @contextmanager
    def kept_without_answer(self) -> Iterator[None]:
        """Remove the mark when all calls are over; it stays when one, now or before, may still be executed."""
        with self._lock:
            self._open += 1
        is_over, may_come = False, True
        try:
            yield
            is_over, may_come = True, False
        except CatalogError as error:
            is_over, may_come = True, isinstance(error, Unavailable)
            raise
        except (StorageError, StopRequested):  # before the call
            may_come = False
            raise
        finally:
            self._end(is_over=is_over, may_come=may_come)

    def _end(self, *, is_over: bool, may_come: bool) -> None:
        with self._lock:
            self._open -= 1
            self._has_unanswered |= may_come
            if is_over and not self._open and not self._has_unanswered:
                with suppress(StorageError, StopRequested):
                    self.remove()

    def remove(self) -> None:
        """Record that no call is under way."""
        remove_wholly(self.system, self._directory, self.root)
        self.system.remove_if_empty(self._directory.parent, below=self.root)

    def may_be_called(self) -> bool:
        """Return whether the metastore may still execute a call of this run, which is dead."""
        try:
            began = self.system.status(self._file).modified
        except NotFound:
            return False
        self.system.write(self._clock, [b""])
        return self.system.status(self._clock).modified - began < LATEST_CALL

    @property
    def _directory(self) -> CanonicalPath:
        """Directory of this mark alone: that of the run's copies is removed after each batch."""
        return self.root.child(f"{STAGING_PREFIX}{self.run}-registering").child(self.table)

    @property
    def _file(self) -> CanonicalPath:
        return self._directory.child(f"{OWN_PREFIX}-registering-{self.table}")

    @property
    def _clock(self) -> CanonicalPath:
        """File that is written for its time: the store's clock, and no other, tells how old the mark is."""
        return self._directory.child(f"{OWN_PREFIX}-clock-{self.table}")
