"""The command of the compact entrypoint."""

from __future__ import annotations

from typing import Annotated

from toolkit.cli.action_flags import Clusters, FeedFlags, RunFlags, Time
from toolkit.cli.flags import Fields, flat


@flat
def compact(
    *,
    time: Time,
    feeds: FeedFlags,
    cluster: Clusters = None,
    run: Annotated[RunFlags, Fields(but=("no_ledger",))],
) -> int:
    """Close the instances of ingested feeds that are over, merge small files, and remove what is left over."""
    from toolkit.ingest.extra import require_extra

    require_extra()
    from toolkit.bootstrap.compact import compact as compacted
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.compaction.targets import NAME
    from toolkit.rendering.compact import COMPACT_VIEW

    command = run.command(NAME, compacted, COMPACT_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(nominal_time_of(time), feeds.selection(cluster)))
