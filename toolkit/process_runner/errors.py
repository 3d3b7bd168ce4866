"""Why a run of an instance must not go on."""

from __future__ import annotations

from collections.abc import Collection

from toolkit.errors import Failed
from toolkit.result import Status
from toolkit.runs.errors import Stopped


class FileChanged(Failed):
    """A file of a workflow is not what it was when the config repo was read; the next invocation reads all of it anew.

    Args:
        path: as the entity says.
    """

    code = "file_changed"

    def __init__(self, *, path: str) -> None:
        self.path = path
        found = f"the file {path} was changed since this run read the config repo, expected what it was then"
        super().__init__(f"{found}; nothing more begins here, and the next run goes on with what is there now")


class StepLeftBehind(Stopped):
    """Error: programs that a dead runner left of a step cannot be ended, so the step must not run beside them.

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


class StepRefused(Stopped):
    """Error: the ledger's registry does not have the step any more, as after a sync of another config repo."""

    code = "step_refused"
    status = Status.FAILED
    ends_process = False
