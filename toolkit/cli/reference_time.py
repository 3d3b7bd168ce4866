"""The instant that a command looks from when it changes nothing: the same for the same commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.cli.filters import BadOption
from toolkit.el import ElError, parse_instant

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.clock import Clock
    from toolkit.config_source import Snapshot


def reference_time(text: str | None, snapshot: Snapshot, clock: Clock) -> datetime:
    """The instant that `--time` names, else that of the commit, else the start of the present day (UTC).

    Args:
        text: of `--time`.
        snapshot: the config repo.
        clock: asked only when the snapshot has no commit.

    Raises:
        BadOption: the text is no instant.
    """
    if text is not None:
        try:
            return parse_instant(text)
        except ElError as error:
            expected = "an instant such as 2026-03-01T06:40Z"
            raise BadOption(option="--time", found=text, expected=expected) from error
    committed = snapshot.id.committed_at
    if committed is not None:
        return committed.replace(second=0, microsecond=0)
    return clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
