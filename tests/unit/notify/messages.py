"""Messages to send."""

from __future__ import annotations

from toolkit.notify.message import InstanceMessage


def message(number: int = 0, *, path: str = "file:///clicks/1", log: str = "") -> InstanceMessage:
    """One whose run has a number."""
    keys = {"workflowId": str(number), "feedInstancePaths": path, "status": "SUCCEEDED", "logFile": log}
    return InstanceMessage(entity="clicks", keys=keys)
