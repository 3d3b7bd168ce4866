"""Receiver of the ends of runs, besides the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from typing_extensions import override

from toolkit.actions.model import Target

if TYPE_CHECKING:
    from toolkit.runs.recorder import RecordedRun, RunOutcome

Target_contra = TypeVar("Target_contra", bound=Target, contravariant=True)
"""Type of targets."""


class Notifier(Protocol[Target_contra]):
    """Is told of each run of a target that came to an end; of one that was skipped or waits there is nothing to say."""

    def run_ended(self, target: Target_contra, run: RecordedRun, outcome: RunOutcome) -> None:
        """A run is over, and the ledger says so; called from any thread. It may neither fail nor take time."""
        ...


class NoNotifier(Notifier[Target]):
    """A notifier that sends nothing."""

    @override
    def run_ended(self, target: Target, run: RecordedRun, outcome: RunOutcome) -> None: ...
