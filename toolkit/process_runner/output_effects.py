"""Effects of a run on its outputs besides those of the steps, as the audit file names them."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.runs.recorder import path_text


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputEffects:
    """Effects of a run on its outputs: staged data is removed, outputs are published, flags are written.

    Attributes:
        position: of the items that they belong to, in the plan.
        instance_key: of the process instance.
        done: the effects so far, for the audit file.
    """

    position: int
    instance_key: str
    done: list[tuple[NewItem, SettledItem]] = field(default_factory=list)

    def note(self, kind: str, uri: str) -> None:
        """Keep an effect that has happened."""
        item = NewItem(position=self.position, kind=kind, path=path_text(uri), instance_key=self.instance_key)
        self.done.append((item, SettledItem(position=self.position, state=ItemState.DONE)))
