"""Why a unit is not published."""

from __future__ import annotations

from toolkit.errors import Failed
from toolkit.storage import StorageError


class TargetChanged(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """The target is not what it was when the plan was made."""

    code = "target_changed"
    text = "something else has changed it since the plan was made; nothing was replaced, run again"
