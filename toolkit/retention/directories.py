"""Directories of a walk, and what is known of them while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.retention.findings import WholeDirectory

if TYPE_CHECKING:
    from toolkit.retention.find import Step
    from toolkit.retention.places import Place


@dataclass(eq=False, slots=True)
class Directory:
    """A directory that a walk enters.

    Attributes:
        place: where it is, and what its names say.
        is_whole: so far nothing was seen in it but instances that may go, and whole directories; set to false by
            whatever else was seen or not looked at.
        instances: found at and below it so far.
        read: gives what is in it when that was listed ahead of time.
    """

    place: Place
    is_whole: bool = True
    instances: int = 0
    read: Callable[[], list[Step]] | None = None

    def closed(self, above: Directory | None) -> Iterator[WholeDirectory]:
        """What is to be said when all below it was walked; the directory above learns of it.

        Args:
            above: None for the base, which never goes itself.
        """
        if above is None:
            return
        above.instances += self.instances
        if not self.is_whole:
            above.is_whole = False
        elif self.instances:
            yield WholeDirectory(path=self.place.path, instances=self.instances)
