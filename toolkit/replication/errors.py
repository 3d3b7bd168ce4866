"""Why a unit is not published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolkit.errors import Failed, Refused
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath


class TargetChanged(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """The target is not what it was when the plan was made."""

    code = "target_changed"
    text = "something else has changed it since the plan was made; nothing was replaced, run again"


class TooMuchToRemove(Refused):
    """A plan removes more parts that their sources no longer have than ``max_delete`` allows; nothing was touched.

    Args:
        limit: its key.
        found: what the plan has, in words; a part counts as an instance.
        allowed: the value.
        digest: that would lift it once.
    """

    def __init__(self, *, limit: str, found: str, allowed: str, digest: str) -> None:
        self.limit, self.found, self.allowed, self.digest = limit, found, allowed, digest
        super().__init__(
            f"the plan removes {found} whose sources no longer have them (on_source_delete: delete; each directory "
            f"counts as an instance), and {limit} allows {allowed}; nothing was touched. Look at the plan with "
            f"--dry-run. To do it once, add --approve {digest}; or raise {limit}"
        )


class NotPreserved(StorageError, Failed):  # noqa: N818
    """Error for attributes that the feed's properties ask to keep and that could not be kept.

    Args:
        path: of the unit.
        properties: of the feed, that ask for it.
        detail: why.
    """

    code = "not_preserved"
    text = "could not be kept"

    def __init__(self, *, path: CanonicalPath, properties: Sequence[str], detail: str) -> None:
        self.properties = tuple(properties)
        hint = "remove them, or add preserveOrWarn: true to publish a copy without"
        super().__init__(path=path, detail=f"{', '.join(properties)}: {detail}; {hint}")
