"""Guard of a run, asked before each effect: may it go on, is its target on hold, does the store answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from toolkit.actions.model import I, ItemResult, SkipReason
from toolkit.errors import StopRequested
from toolkit.result import Outcome
from toolkit.runs.errors import Stopped
from toolkit.storage import StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.runs.stop import StopSignal
    from toolkit.storage import FileSystem


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an effect does not begin.

    Attributes:
        code: a `SkipReason`, or that of an error.
        why: the error in words; empty: it is none.
    """

    code: str
    why: str = ""

    def of(self, item: I) -> ItemResult[I]:
        """The result of an item that it is about."""
        if not self.why:
            return ItemResult(item=item, outcome=Outcome.SKIPPED, code=self.code)
        return ItemResult.failed(item, self.code, f"{item.uri}: not begun, since {self.why}")


STOPPED, HELD = Refusal(SkipReason.STOPPED), Refusal(SkipReason.HELD)


class CalledOff(StopRequested):
    """Error: work must not go on, since its target was put on hold, or that is not known.

    Args:
        refusal: of what was not done yet.
    """

    def __init__(self, *, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(f"called off: {refusal.why or refusal.code}")


class Condition(Protocol):
    """Something that may stand against an effect besides the end of the run; safe between threads."""

    def refusal(self, base: CanonicalPath, *, items: int, must_look: bool) -> Refusal | None:
        """Why an effect below a base must not begin; the arguments are those of `Guard.refusal`.

        Raises:
            Unreachable: a store does not answer.
            Stopped: the run ended while the answer was waited for.
        """
        ...


@dataclass(kw_only=True)
class Guard:
    """Lets the effects of one run begin; safe between threads.

    Attributes:
        run: asked before each effect: the process's stop, the run's lease, and commands.
        conditions: what else may stand against its effects, asked in this order; they stay the same for the whole run.
        stopped: why nothing more begins; the first reason stays.
        effects: a number that grows whenever a store may change something.
    """

    run: StopSignal
    conditions: Final[Sequence[Condition]]
    stopped: Stopped | None = None
    effects: int = field(default=0, init=False)
    _under_way: CanonicalPath | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _silent: dict[tuple[str, str], Refusal] = field(default_factory=dict, init=False)
    _here: threading.local = field(default_factory=threading.local, init=False, repr=False)

    def may_begin(self) -> bool:
        """Return whether the run may go on; after the first False it stays False."""
        if self.stopped is None:
            try:
                self.run.check()
            except Stopped as stopped:
                self.stop(stopped)
        return self.stopped is None

    def stop(self, stopped: Stopped) -> None:
        """Let nothing begin from now on."""
        with self._lock:
            self.stopped = self.stopped or stopped

    @contextmanager
    def completing(self) -> Iterator[None]:
        """Effects of which the first alone is worse than all or none, as two renames: asked for once, before the first.

        In this thread no stop comes between them; the body is a few calls.

        Raises:
            Stopped: the run must not start another effect.
        """
        self.check()
        self._here.is_completing = True
        try:
            yield
        finally:
            self._here.is_completing = False

    @contextmanager
    def looking_back(self) -> Iterator[None]:
        """A look at what the run has done, after its last effect: a stop ends the body, and is too late for the run."""
        before = self.stopped
        try:
            yield
        except StopRequested:
            self.stopped = before

    def check(self) -> None:
        """The hook of the run's stores: asked before every single change, from any thread.

        Raises:
            Stopped: the run must not start another effect.
            CalledOff: a call of many effects is under way, which a condition stops in its middle.
        """
        if getattr(self._here, "is_completing", False):
            self.effects += 1
            return
        if not self.may_begin() and self.stopped is not None:
            raise self.stopped
        if self._under_way is not None and (refusal := self.against(self._under_way, items=0)) is not None:
            raise CalledOff(refusal=refusal)
        self.effects += 1  # that threads may count one for two is no harm: it has grown

    @contextmanager
    def watching(self, base: CanonicalPath) -> Iterator[None]:
        """A call of many effects below a base is under way in the body; one at a time."""
        self._under_way = base
        try:
            yield
        finally:
            self._under_way = None

    def refusal(self, base: CanonicalPath, *, items: int = 1, must_look: bool = False) -> Refusal | None:
        """Why an effect below a base must not begin; None: it may.

        Args:
            base: of what it is on.
            items: so many of the plan it is about.
            must_look: rely on nothing that was seen before, since much goes at once.
        """
        if not self.may_begin():
            return STOPPED
        if self._silent and (silent := self._silent.get(_store(base))) is not None:
            return silent
        return self.against(base, items=items, must_look=must_look)

    def against(self, base: CanonicalPath, *, items: int = 1, must_look: bool = False) -> Refusal | None:
        """Do as `refusal` does, but only by what is known of a stop and by the conditions; does not ask the run."""
        if self.stopped is not None:
            return STOPPED
        try:
            for condition in self.conditions:
                refusal = condition.refusal(base, items=items, must_look=must_look)
                if refusal is not None:
                    return refusal
        except Unreachable as error:
            return self._note_silence(base, error)
        except Stopped as stopped:
            self.stop(stopped)
            return STOPPED
        return None

    def require(self, base: CanonicalPath) -> None:
        """Return when an effect below a base may begin; nothing that was seen before is relied on.

        Raises:
            Stopped: the run must not start another effect.
            CalledOff: a condition stands against it, or its store does not answer.
        """
        refusal = self.refusal(base, must_look=True)
        if self.stopped is not None:
            raise self.stopped
        if refusal is not None:
            raise CalledOff(refusal=refusal)

    def is_silent(self, base: CanonicalPath) -> bool:
        """Return whether the store of a path is skipped because it does not answer."""
        return _store(base) in self._silent

    def note_unanswered(self, system: FileSystem, base: CanonicalPath) -> None:
        """A call was not answered: when the store does not say a word about the base either, it is left alone."""
        try:
            system.status(base)
        except Unreachable as error:
            self._note_silence(base, error)
        except Stopped as stopped:
            self.stop(stopped)
        except StorageError:
            return

    def _note_silence(self, base: CanonicalPath, error: Unreachable) -> Refusal:
        detail = f" ({error.detail})" if error.detail else ""
        if _store(error.path) != _store(base):
            why = f"a hold could not be looked for in {error.path}, whose storage does not answer{detail}"
        else:
            why = f"the storage does not answer{detail}"
        return self._silent.setdefault(_store(base), Refusal(Unreachable.code, f"{why}; run again when it does"))


def _store(path: CanonicalPath) -> tuple[str, str]:
    return path.scheme, path.authority
