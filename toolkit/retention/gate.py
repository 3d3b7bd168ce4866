"""What is asked before each effect on a feed: may the run go on, is the feed on hold by now, does the store answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.errors import Skipped
from toolkit.result import Outcome
from toolkit.retention.brake import Brake, HoldUnknown
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.errors import Stopped
from toolkit.storage import StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.runs.lifeline import Lifeline
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

    def of(self, item: PlanItem) -> ItemResult:
        """The result of an item that it is about."""
        if not self.why:
            return ItemResult(item=item, outcome=Outcome.SKIPPED, code=self.code)
        return ItemResult.failed(item, self.code, f"{item.path}: not begun, since {self.why}")


STOPPED, _HELD = Refusal(SkipReason.STOPPED), Refusal(SkipReason.HELD)


class CalledOff(Skipped):
    """What was begun must not go on: the feed was put on hold meanwhile, or nobody can tell.

    Args:
        refusal: of what was not done yet.
    """

    code = "called_off"

    def __init__(self, *, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(f"called off: {refusal.why or refusal.code}")


@dataclass(kw_only=True)
class Gate:
    """Lets effects on a feed begin; safe between threads.

    Attributes:
        lifeline: asked before each effect.
        brake: asked whether the feed was put on hold meanwhile.
        stopped: why nothing more begins; the first reason stays.
        effects: a number that grows whenever the store may change something.
    """

    lifeline: Lifeline
    brake: Brake
    stopped: Stopped | None = None
    effects: int = field(default=0, init=False)
    _bulk: CanonicalPath | None = field(default=None, init=False)
    _blind: Refusal | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _silent: dict[tuple[str, str], Refusal] = field(default_factory=dict, init=False)

    def may_begin(self) -> bool:
        """Whether the run may go on; once it may not, it never may again."""
        if self.stopped is None:
            try:
                self.lifeline.check()
            except Stopped as stopped:
                self.stop(stopped)
        return self.stopped is None

    def stop(self, stopped: Stopped) -> None:
        """Let nothing begin from now on."""
        with self._lock:
            self.stopped = self.stopped or stopped

    def check(self) -> None:
        """See `Lifeline.check`; asked by the store before every single change, from any thread.

        Raises:
            Stopped: the run must not start another effect.
            CalledOff: a bulk call is under way, which a hold stops in its middle.
        """
        self.lifeline.check()
        if self._bulk is not None and (refusal := self.hold(self._bulk, items=0)) is not None:
            raise CalledOff(refusal=refusal)
        self.effects += 1  # that threads may count one for two is no harm: it has grown

    @contextmanager
    def bulk(self, base: CanonicalPath) -> Iterator[None]:
        """A bulk call below a base, in the body; one at a time."""
        self._bulk = base
        try:
            yield
        finally:
            self._bulk = None

    def refusal(self, base: CanonicalPath, *, items: int = 1, must_look: bool = False) -> Refusal | None:
        """Why an effect below a base must not begin; None: it may.

        Args:
            base: of the location.
            items: so many of the plan it is about.
            must_look: look for a hold at once, since much goes at once.
        """
        if not self.may_begin():
            return STOPPED
        if self._silent and (silent := self._silent.get(_store(base))) is not None:
            return silent
        return self.hold(base, items=items, must_look=must_look)

    def hold(self, base: CanonicalPath, *, items: int = 1, must_look: bool = False) -> Refusal | None:
        """As `refusal`, but only for a hold; does not ask whether the run may go on."""
        if self._blind is not None:
            return self._blind
        try:
            return _HELD if self.brake.holds(base, items=items, must_look=must_look) else None
        except Unreachable as error:
            return self._note_silence(base, error)
        except HoldUnknown as error:
            self._blind = Refusal(error.code, f"{error}; run again when it can be")
            return self._blind
        except Stopped as stopped:
            self.stop(stopped)
            return STOPPED

    def is_silent(self, base: CanonicalPath) -> bool:
        """Whether the store that a path is on is left alone, since it does not answer."""
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
