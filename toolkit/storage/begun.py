"""What a bulk removal has asked the store to remove: when it is called off, everything else is untouched.

Who removes enters a `Begun`. A store that knows more than its answers say tells it; without one nothing is noted.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath


@dataclass(kw_only=True)
class Begun:
    """The paths of a bulk removal that may have changed; while it is entered, it holds for the calls of this thread."""

    _paths: set[CanonicalPath] = field(default_factory=set, init=False)
    _is_told: bool = field(default=False, init=False)
    _entered: Token[Begun | None] | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Self:
        self._entered = _BEGUN.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered is not None:
            _BEGUN.reset(self._entered)

    def may_have(self, path: CanonicalPath) -> bool:
        """Whether a path may have changed; of a store that tells nothing, any may."""
        return not self._is_told or path in self._paths

    def add(self, paths: Iterable[CanonicalPath]) -> None:
        """Take that a request about these paths was sent; called before the removal ends, also when there are none."""
        self._is_told = True
        self._paths.update(paths)


@dataclass(kw_only=True)
class Sending:
    """A call that is made of several requests; while it is entered, it holds for those of this thread.

    Attributes:
        is_sent: one that changes something was let through.
    """

    is_sent: bool = field(default=False, init=False)
    _entered: Token[Sending | None] | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Self:
        self._entered = _SENDING.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered is not None:
            _SENDING.reset(self._entered)


_BEGUN: ContextVar[Begun | None] = ContextVar("begun", default=None)
_SENDING: ContextVar[Sending | None] = ContextVar("sending", default=None)


def current_begun() -> Begun | None:
    """The one that this thread has entered."""
    return _BEGUN.get()


def note_sent() -> None:
    """A request that changes something is sent now; called when `before_effect` has let it through."""
    sending = _SENDING.get()
    if sending is not None:
        sending.is_sent = True
