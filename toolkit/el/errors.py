"""Errors of the expression language: the message names the text, the place in it, what was found and what was expected.

InvalidInput
└── ElError              a text or a time that the expression language cannot use
    ├── Credentials      an address with a user or a password in it
    ├── OutOfRange       the calculated time is outside the years 1 to 9999
    ├── NotAnInstance    an instant that is not in the sequence
    └── NoSuchInstance   a position outside the sequence (also an IndexError)
"""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.el.credentials import has_credentials, without_credentials
from toolkit.errors import InvalidInput
from toolkit.printable import on_one_line


class ElError(InvalidInput):
    """A text or a time that the expression language cannot use.

    Args:
        text: the whole text (or time) as the user gave it; credentials in it are shown as asterisks.
        expected: what would have been right; a phrase that follows "expected".
        position: 0-based offset of the fault in `text`; the message counts from 1. None: the text as a whole.
        found: the faulty piece of `text`, or words about it; None: the text as a whole is the fault.
    """

    def __init__(self, *, text: str, expected: str, position: int | None = None, found: str | None = None) -> None:
        piece = found
        if found and position is not None and text.startswith(found, position):
            piece = without_credentials(text)[position : position + len(found)]
        self.text, self.expected, self.position, self.found = without_credentials(text), expected, position, piece
        super().__init__(
            f'"{on_one_line(self.text)}": {_place(position)}{_finding(self.text, position, piece)}expected {expected}'
        )


class Credentials(ElError):  # noqa: N818 - named for what was found
    """A store's address with a user, a key or a password before its host or bucket.

    Args:
        text: the address; the message does not repeat what is secret in it.
    """

    def __init__(self, *, text: str) -> None:
        super().__init__(
            text=text,
            position=text.index("//") + 2,
            found="a user, a key or a password",
            expected="the host, name service or bucket alone: credentials come from the environment of the run "
            "(Kerberos, HADOOP_USER_NAME, AWS_PROFILE ...); change the secret, since git keeps it",
        )


def refuse_credentials(address: str) -> None:
    """Called with the address of a store before anything else looks at it.

    Raises:
        Credentials: it has some in it.
    """
    if has_credentials(address):
        raise Credentials(text=address)


class OutOfRange(ElError):  # noqa: N818 - named for what happened
    """The calculated time is outside the years 1 to 9999 that feedctl can express.

    Args:
        text: the times or the expression that lead outside.
    """

    def __init__(self, *, text: str) -> None:
        super().__init__(text=text, found="a time outside the calendar", expected="one in the years 1 to 9999")


class NotAnInstance(ElError):  # noqa: N818 - named for what happened
    """The instant is not an instance of the sequence.

    Args:
        text: the instant.
        sequence: the sequence in words, for example ``hours(1) from 2026-01-01T00:00Z``.
        nearest: the instances before and after it, as far as there are any.
    """

    def __init__(self, *, text: str, sequence: str, nearest: Sequence[str]) -> None:
        self.sequence, self.nearest = sequence, tuple(nearest)
        hint = f"; {'the nearest are' if len(nearest) > 1 else 'the nearest is'} {' and '.join(nearest)}"
        super().__init__(text=text, expected=f"an instance of {sequence}{hint if nearest else ''}")


class NoSuchInstance(ElError, IndexError):  # noqa: N818 - named for what happened
    """The sequence has no instance at that position.

    Args:
        index: the position that was asked for.
        sequence: the sequence in words.
    """

    def __init__(self, *, index: int, sequence: str) -> None:
        self.index, self.sequence = index, sequence
        super().__init__(text=f"[{index}]", expected=f"the position of an instance, from 0 on, of {sequence}")


def _place(position: int | None) -> str:
    return "" if position is None else f"at character {position + 1}: "


def _finding(text: str, position: int | None, found: str | None) -> str:
    if found is None:
        return ""
    if found == "":
        return "found the end, "
    is_piece = position is not None and text.startswith(found, position)
    return f"found '{on_one_line(found)}', " if is_piece else f"found {found}, "
