"""The instant that a command looks from when it changes nothing: the same for the same commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.cli.filters import BadOption
from toolkit.el import ElError, parse_instant

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.clock import Clock
    from toolkit.config_source import Snapshot


def reference_time(text: str | None, snapshot: Snapshot, clock: Clock, base: Snapshot | None = None) -> datetime:
    """The instant that `--time` names, else that of the commit, else the start of the present day (UTC).

    Whoever commits chooses the date: it does not count when it is before that of the base, or in the future.

    Args:
        text: of `--time`.
        snapshot: the config repo.
        clock: tells the present.
        base: what the config repo is compared with.

    Raises:
        BadOption: the text is no instant.
    """
    if text is not None:
        try:
            return parse_instant(text)
        except ElError as error:
            expected = "an instant such as 2026-03-01T06:40Z"
            raise BadOption(option="--time", found=text, expected=expected) from error
    now, committed = clock.now(), snapshot.id.committed_at
    if committed is None:
        return now.replace(hour=0, minute=0, second=0, microsecond=0)
    of_base = committed if base is None else base.id.committed_at or committed
    return min(max(committed, of_base), now).replace(second=0, microsecond=0)
