"""Values of options, from text: what cannot be one is refused with what can."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolkit.el import ElError, parse_instant
from toolkit.entities.nearest import suggestion
from toolkit.entities.vocabulary import Kind
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.clock import Clock
    from toolkit.config_source import Snapshot


class BadOption(InvalidInput):
    """An option has a value that it cannot have.

    Args:
        option: for example ``--tag``.
        found: the value as given.
        expected: what it can be.
    """

    def __init__(self, *, option: str, found: str, expected: str) -> None:
        self.option, self.found, self.expected = option, found, expected
        super().__init__(f"{option}: found {found!r}, expected {expected}")


def first_instance(time: str | None, start: str | None, end: str | None) -> str | None:
    """Return the first of the instances that options name: that of `--start`, or the only one, of `--time`.

    Raises:
        BadOption: one instance and a range were given.
    """
    if time is None:
        return start
    if (start, end) != (None, None):
        raise BadOption(option="--time", found=time, expected="no --start and --end beside it")
    return time


class MissingOption(InvalidInput):
    """An option that is needed here was not given.

    Args:
        option: for example ``--start``.
        command: whose it is, for example ``instance list``.
    """

    def __init__(self, *, option: str, command: str) -> None:
        self.option, self.command = option, command
        super().__init__(f"Missing option '{option}'; see feedctl {command} --help")


def instant_of(option: str, text: str) -> datetime:
    """The instant that the value of an option names.

    Raises:
        BadOption: the text is no instant.
    """
    try:
        return parse_instant(text)
    except ElError as error:
        raise BadOption(option=option, found=text, expected=error.expected) from error


def kind_of(text: str | None) -> Kind | None:
    """The kind of that name.

    Raises:
        BadOption: there is no such kind.
    """
    if text is None:
        return None
    try:
        return Kind(text)
    except ValueError as error:
        hint = suggestion(text, list(Kind))
        expected = f"one of {', '.join(Kind)}" + (f"; {hint}" if hint else "")
        raise BadOption(option="--kind", found=text, expected=expected) from error


def tags_of(texts: Iterable[str]) -> dict[str, str]:
    """Tags from their ``KEY=VALUE`` texts.

    Raises:
        BadOption: a text without ``=`` or without a key, or two values for one key.
    """
    tags: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise BadOption(option="--tag", found=text, expected="KEY=VALUE, for example classification=pii")
        if tags.get(key, value) != value:
            expected = f"one value for {key}: it is {tags[key]!r} already, and an entity has one"
            raise BadOption(option="--tag", found=text, expected=expected)
        tags[key] = value
    return tags


def reference_time(text: str | None, snapshot: Snapshot, clock: Clock, base: Snapshot | None = None) -> datetime:
    """The instant that `--time` names, else that of the commit, else the start of the present day (UTC).

    The committer chooses the date: it does not count when it is before that of the base, or in the future.

    Args:
        text: of `--time`.
        snapshot: the config repo.
        clock: tells the present.
        base: what the config repo is compared with.

    Raises:
        BadOption: the text is no instant.
    """
    if text is not None:
        return instant_of("--time", text)
    now, committed = clock.now(), snapshot.id.committed_at
    if committed is None:
        return now.replace(hour=0, minute=0, second=0, microsecond=0)
    of_base = committed if base is None else base.id.committed_at or committed
    return min(max(committed, of_base), now).replace(second=0, microsecond=0)
