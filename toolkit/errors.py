"""The errors that feedctl raises on purpose.

FeedctlError                 everything below; a bug is any other exception
├── InvalidInput             bad text, entity or option (also a ValueError)       exit 2
│   └── NotImplementedYet    a valid value whose action does not exist yet        exit 2
├── Refused                  a safety limit said no; nothing was touched           exit 3
├── Skipped                  suspended, safe mode, or another run is at it         exit 5
├── NotYet                   what is needed is not there yet; try again later      exit 75, retriable
├── Unavailable              a system could not be reached or answered too late    exit 1, retriable
├── Failed                   an effect was tried and did not happen                exit 1
└── StopRequested            no further effect may begin; raised before it is sent

A subclass takes facts as keyword arguments, keeps them as attributes and writes the message itself:
what was found, what was expected, what to do next (STYLE H17, H21).
"""


class FeedctlError(Exception):
    """Base of all errors that feedctl explains itself; `retriable` says whether trying again can help."""

    retriable = False


class InvalidInput(FeedctlError, ValueError):  # noqa: N818 - named for what happened, as HTTPX does
    """Error for input that cannot be used; nothing was touched."""


class NotImplementedYet(InvalidInput):
    """The value is part of the schema, but the action that it asks for does not exist yet (DESIGN section 4).

    Args:
        what: the value as the user wrote it, for example ``action: archive``.
        instead: what the user can do now.
        where: the entity or file that asks for it.
    """

    def __init__(self, *, what: str, instead: str, where: str = "") -> None:
        self.what, self.instead, self.where = what, instead, where
        place = f"{where}: " if where else ""
        super().__init__(f"{place}{what} is not implemented yet; {instead}")


class Refused(FeedctlError):  # noqa: N818 - the action was refused; nothing went wrong
    """A safety limit stopped the action before its first effect."""


class Skipped(FeedctlError):  # noqa: N818 - nothing went wrong: it is not to be done now
    """The action was not started: suspended, safe mode, or another run holds what it needs."""

    code = "skipped"


class NotYet(FeedctlError):  # noqa: N818 - a state of the world
    """Error for something that is not there yet; nothing was changed, and a later try helps."""

    retriable = True


class Unavailable(FeedctlError):  # noqa: N818 - a state of the other side
    """A system that the action needs did not answer; trying again can help."""

    retriable = True


class Failed(FeedctlError):  # noqa: N818 - the base of failures with their own names
    """An effect was tried and did not happen."""


class StopRequested(FeedctlError):  # noqa: N818 - a request, and no error
    """Stop of a run: the check before each effect raises it, through the code that was about to change data."""
