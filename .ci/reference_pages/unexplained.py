"""The one way in which writing the reference fails."""

from __future__ import annotations


class UnexplainedError(LookupError):
    """The code has something that the reference has no words for.

    Args:
        what: for example a format.
        where: the place that lacks the words.
    """

    def __init__(self, *, what: str, where: str) -> None:
        self.what, self.where = what, where
        super().__init__(f"the reference has no words for {what}; add them to {where}")
