"""Copying the files of one run, by its threads or, when there are very many bytes of them, by its executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from toolkit.actions.progress import Volume
from toolkit.runs.errors import PauseRequested
from toolkit.transfer.copier import Copier
from toolkit.transfer.digest_reader import DigestReader
from toolkit.transfer.plan import PLAIN, Copied, CreateOptions, FileCopy
from toolkit.transfer.spread_copy import SpreadCopy
from toolkit.transfer.spread_read import SpreadRead, read_again
from toolkit.transfer.timed_tasks import TOO_LATE

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.errors import StopRequested
    from toolkit.transfer.port import ExecutorPool

NO_ANSWER = "no_answer"
"""The code of a file of which no executor said what became of it."""
SPREAD_BYTES = 2 * 1024**3
SPREAD_FILES = 2000
"""From so much on files are copied by executors, where there are some: Spark takes five seconds to have them, in which
the driver alone copies more than a gigabyte."""


@dataclass(frozen=True, kw_only=True)
class FileCopies:
    """Copies files of a run from one store to another.

    Attributes:
        work: of the run.
        at_once: so many files at once; None: as many as the target is good for.
        bandwidth: bytes a second of each call; inf: as many as come.
        create: options with which files are written.
    """

    work: RunContext
    at_once: int | None = None
    bandwidth: float = inf
    create: CreateOptions = PLAIN

    def copy(
        self,
        source: CanonicalPath,
        target: CanonicalPath,
        files: Sequence[FileCopy],
        *,
        is_progress: bool = True,
        overwrite: bool = True,
    ) -> list[Copied]:
        """Copy files, and make directories; one that fails does not stop the others.

        Args:
            source: on the store that they are read from.
            target: on the store that they are written to.
            files: in any order.
            is_progress: they are part of the plan's volume, so that who watches is told.
            overwrite: replace what is there; else a file that is there fails.

        Raises:
            StopRequested: the work was called off.
            Unavailable: the executors were lost.
        """
        if not files:
            return []
        names = [file.target for file in files]
        files = self.create.files(files)
        passed = self._tell if is_progress else _ignored
        copied = self._where_it_pays(
            files,
            (source, target),
            here=lambda left: self._here(source, target, left, passed, overwrite=overwrite),
            spread=lambda pool: self._spread(pool, source, target, passed, overwrite=overwrite).copy(files),
        )
        return _renamed(copied, files, names)

    def read(self, target: CanonicalPath, files: Sequence[FileCopy]) -> list[Copied]:
        """Read copies again to their end, for their digests; by executors where `copy` would use them.

        Args:
            target: on the store that they are on.
            files: whose targets are read; no directories.

        Raises:
            StopRequested: the work was called off.
            Unavailable: the executors were lost.
        """
        names = [file.target for file in files]
        files = self.create.files(files)
        reader = DigestReader(system=self.work.stores(target), check=self._check)
        read = self._where_it_pays(
            files,
            (target,),
            here=lambda left: read_again(reader, left, self.work.copying.pool),
            spread=lambda pool: SpreadRead(
                pool=pool,
                store=self.work.copying.spec_of(target),
                seconds_left=self.work.seconds_left,
                check=self.work.check_remote,
                rest=self._check,
                is_pause=_is_pause,
            ).read(files),
        )
        return _renamed(read, files, names)

    def _where_it_pays(
        self,
        files: Sequence[FileCopy],
        ends: Sequence[CanonicalPath],
        *,
        here: Callable[[Sequence[FileCopy]], list[Copied]],
        spread: Callable[[ExecutorPool], Iterable[Copied]],
    ) -> list[Copied]:
        """Let executors work on many files or bytes of stores that they reach, else, and for the rest, this process."""
        size = sum(file.size for file in files)
        is_large = len(files) > SPREAD_FILES or size > SPREAD_BYTES
        if not is_large or any(each.is_local for each in ends):
            return here(files)
        if self.work.executors is None:
            self.work.copying.large_without_executors.append((len(files), size))
            return here(files)
        copied = self._by_executors(files, spread)
        # What is too much for one task (see `LONGEST_SECONDS`) is not too much for the driver, which renews the lease.
        late = {each.target for each in copied if each.code == TOO_LATE}
        left = [file for file in files if file.target in late]
        return [*(each for each in copied if each.target not in late), *(here(left) if late else [])]

    def _by_executors(
        self, files: Sequence[FileCopy], spread: Callable[[ExecutorPool], Iterable[Copied]]
    ) -> list[Copied]:
        """Let executors work, for one at a time; each of them has enough to do with one."""
        assert self.work.executors is not None  # noqa: S101 - the caller has looked
        with self.work.copying.executors_lock:
            self._check()
            executors = self.work.executors()
            self.work.let_others_work()
            copied = {each.target: each for each in spread(executors)}
        silent = (Copied(file.target, code=NO_ANSWER, message="the executors were lost") for file in files)
        return [copied.get(each.target, each) for each in silent]

    def _here(
        self,
        source: CanonicalPath,
        target: CanonicalPath,
        files: Sequence[FileCopy],
        passed: Callable[[int, int], None],
        *,
        overwrite: bool,
    ) -> list[Copied]:
        """By threads."""
        copied: list[Copied] = []  # appending is atomic
        copier = Copier(
            source=self.work.stores(source),
            target=self.work.stores(target),
            check=self._check,
            bandwidth=self.bandwidth,
            overwrite=overwrite,
            create=self.create,
            passed=passed,
        )
        at_once = self.at_once or self.work.stores(target).capabilities.parallel
        copier.copy_all(files, self.work.copying.pool, copied.append, at_once=at_once)
        return copied

    def _spread(
        self,
        pool: ExecutorPool,
        source: CanonicalPath,
        target: CanonicalPath,
        passed: Callable[[int, int], None],
        *,
        overwrite: bool,
    ) -> SpreadCopy:
        return SpreadCopy(
            pool=pool,
            source=self.work.copying.spec_of(source),
            target=self.work.copying.spec_of(target),
            joining=self.work.stores(target),
            seconds_left=self.work.seconds_left,
            check=self.work.check_remote,
            rest=self._check,
            is_pause=_is_pause,
            bandwidth=self.bandwidth,
            overwrite=overwrite,
            create=self.create,
            passed=passed,
        )

    def _check(self) -> None:
        self.work.guard.check()

    def _tell(self, files: int, size: int) -> None:
        self.work.progress.copied(Volume(files=files, bytes=size))


def _renamed(copied: list[Copied], files: Sequence[FileCopy], names: Sequence[CanonicalPath]) -> list[Copied]:
    """Return outcomes by the targets that the caller has given."""
    given = {file.target: name for file, name in zip(files, names, strict=True)}
    return [each._replace(target=given[each.target]) for each in copied]


def _ignored(files: int, size: int) -> None:
    """No reports."""


def _is_pause(stop: StopRequested) -> bool:
    return isinstance(stop, PauseRequested)
