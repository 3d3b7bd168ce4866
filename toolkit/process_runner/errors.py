"""Why a run of an instance must not go on."""

from __future__ import annotations

from collections.abc import Collection

from toolkit.result import Status
from toolkit.runs.errors import Stopped


class StepLeftBehind(Stopped):
    """What a dead runner left of a step cannot be ended, so that the step must not run beside it.

    Args:
        step: its name.
        processes: their numbers.
    """

    code = "step_left_behind"
    status = Status.FAILED
    ends_process = False

    def __init__(self, *, step: str, processes: Collection[int]) -> None:
        self.step, self.processes = step, tuple(sorted(processes))
        numbers = ", ".join(map(str, self.processes))
        super().__init__(reason=f"processes {numbers} of an earlier run of step {step} do not end; end them by hand")
