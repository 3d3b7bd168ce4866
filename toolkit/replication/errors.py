"""Why a unit is not published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolkit.errors import Failed
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.transfer.copying import Copied


class TargetChanged(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """The target is not what it was when the plan was made."""

    code = "target_changed"
    text = "something else has changed it since the plan was made; nothing was replaced, run again"


class CopyDiffers(StorageError, Failed):  # noqa: N818
    """What was written does not have the names and sizes that were planned."""

    code = "copy_differs"
    text = "the copy is not what was planned, so it was thrown away; run again"


class FilesFailed(StorageError, Failed):  # noqa: N818
    """Some files of a unit could not be copied, so that none of it was published.

    Args:
        path: of the unit.
        failed: what was told of them.
    """

    code = "files_failed"
    text = "was not published"

    def __init__(self, *, path: CanonicalPath, failed: Sequence[Copied]) -> None:
        self.failed = tuple(failed)
        count = "1 file" if len(failed) == 1 else f"{len(failed)} files"
        super().__init__(path=path, detail=f"{count} failed, the first: {failed[0].message}")
