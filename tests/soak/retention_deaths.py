"""How a run of the fuzzer ends before its time: at a check, an effect, an emptied directory or a record."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from tests.soak.retention_feed import Opening
from toolkit.el import CanonicalPath
from toolkit.runs.errors import Stopped
from toolkit.storage import Deleted, FileSystem, Look, ReadOnlyFileSystem, StorageSpec


class Killed(BaseException):
    """What kill -9 is to a program: nothing handles it."""


class Moment(StrEnum):
    """When a run may end."""

    CHECK = "check"
    """It asks whether it may go on; most often before it lists a directory."""
    EFFECT = "effect"
    """The store is about to change something, also between the files of one instance."""
    PARENT = "parent"
    """It is about to remove a directory if it is empty, or has just done so."""
    RECORD = "record"
    """It is about to write something into the ledger, or has just done so."""


_MOST = {
    Moment.CHECK: (5, 60, 200),
    Moment.EFFECT: (3, 30, 200),
    Moment.PARENT: (1, 3, 8, 30),
    Moment.RECORD: (4, 8),
}
"""Bounds for the number of a moment: what happens early has to be met as well as what happens late."""


@dataclass
class Death:
    """Ends a run at one of its moments, and lets nothing of it succeed from then on; is asked as a `StopSignal`.

    Attributes:
        moment: the kind.
        left: so many moments of the kind pass before.
        end: makes what is raised.
    """

    moment: Moment
    left: int
    end: Callable[[], BaseException] = Killed
    is_over: bool = False

    @classmethod
    def draw(cls, chance: random.Random) -> Death:
        """Any; parents come most often, since an emptied directory is what a rerun may forget."""
        moment = chance.choice([*Moment, *[Moment.PARENT] * 4])
        return cls(moment, chance.randrange(chance.choice(_MOST[moment])))

    @classmethod
    def by_stop(cls, chance: random.Random) -> Death:
        """One that the run gets to know, where it asks for it."""
        moment = chance.choice([Moment.CHECK, Moment.EFFECT])
        return cls(moment, chance.randrange(chance.choice(_MOST[moment])), lambda: Stopped(reason="the soak test"))

    def check(self) -> None:
        self.at(Moment.CHECK)

    def at(self, moment: Moment) -> None:
        """The run has come to a moment."""
        self.is_over = self.is_over or (moment is self.moment and self.left <= 0)
        if self.is_over:
            raise self.end()
        self.left -= moment is self.moment


@dataclass(frozen=True, kw_only=True, slots=True)
class MortalOpening(Opening):
    """Opens a store for a run that ends.

    Args:
        death: of the run.
    """

    death: Death

    def opened(
        self,
        spec: StorageSpec,
        before_effect: Callable[[], None],
        while_waiting: Callable[[], None] = lambda: None,
        *,
        read_only: bool,
    ) -> FileSystem:

        def mortal_effect() -> None:
            before_effect()
            self.death.at(Moment.EFFECT)

        return _MortalStore(Opening.opened(self, spec, mortal_effect, while_waiting, read_only=read_only), self.death)


@dataclass(frozen=True, slots=True)
class _MortalStore(ReadOnlyFileSystem):
    """Passes on what retention asks of a store."""

    death: Death

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        if look is not None:  # then the store asks the look instead of its own hook
            self.death.at(Moment.EFFECT)
        self.inner.delete(path, below=below, look=look)

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        return self.inner.delete_all(paths, below=below, first=first)

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        self.inner.write(path, chunks, overwrite=overwrite)

    def mkdirs(self, path: CanonicalPath) -> None:
        self.inner.mkdirs(path)

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        self.inner.rename(source, target)

    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        self.inner.set_permission(path, permission)

    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        self.inner.set_owner(path, owner=owner, group=group)

    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:
        self.inner.set_acl(path, entries)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        self.death.at(Moment.PARENT)
        is_removed = self.inner.remove_if_empty(path, below=below)
        self.death.at(Moment.PARENT)
        return is_removed
