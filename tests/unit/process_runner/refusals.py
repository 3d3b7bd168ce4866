"""Conditions that come up while a run works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.guard import Condition, Refusal

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath


@dataclass
class RefusedLater(Condition):
    """Stands against all that begins when so many looks found nothing."""

    answer: Refusal
    looks: int = 0

    @override
    def refusal(self, base: CanonicalPath, *, items: int = 1, must_look: bool = False) -> Refusal | None:
        self.looks -= 1
        return self.answer if self.looks < 0 else None
