"""`feedctl restore`: what was evicted with `action: quarantine` comes back."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from toolkit.cli.action_flags import Clusters, RunFlags
from toolkit.cli.completion import entity_names
from toolkit.cli.flags import Fields, flat
from toolkit.cli.options import OutputFormat, print_answer
from toolkit.rendering.tables import ResultFormat

_RUN = re.compile(r"[0-9]+|[0-9a-f]{16}")
"""The number of a run, or the name of one without a ledger; names of feeds begin with a letter."""


@flat
def restore(
    *,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN|FEED]", autocompletion=entity_names, help="The run that evicted, by its number; or a feed."
        ),
    ] = None,
    instance: Annotated[
        str | None, typer.Option("--instance", metavar="INSTANT", help="This instance alone. Default: all.")
    ] = None,
    cluster: Clusters = None,
    from_manifest: Annotated[
        str | None,
        typer.Option("--from-manifest", metavar="URI", help="The instance that has this as `manifest` in --list."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="Show what can be restored until when; without a name of all feeds.")
    ] = False,
    run: Annotated[RunFlags, Fields(but=("approve", "plan_out", "apply_plan"))],
) -> int:
    """Bring back instances that retention has put into quarantine; exit code 4: something is in the place of one."""
    from toolkit.actions.selection import EntitySelection
    from toolkit.bootstrap.restore import RestoreOptions, restorable
    from toolkit.bootstrap.restore import restore as restored
    from toolkit.cli.option_values import MissingOption, instant_of
    from toolkit.clock import SystemClock
    from toolkit.el import format_instant
    from toolkit.rendering.retention import RESTORE_VIEW, restorable_document, restorable_lines
    from toolkit.retention.restore import NAME
    from toolkit.runs.stop import NeverStopped

    if what is None and from_manifest is None and not show:
        raise MissingOption(option="RUN|FEED", command="restore")
    is_run = what is not None and _RUN.fullmatch(what) is not None
    key = "" if instance is None else format_instant(instant_of("--instance", instance))
    own = RestoreOptions(run=(what or "") if is_run else "", instance_key=key, manifest=from_manifest)
    names, clusters = () if what is None or is_run else (what,), tuple(cluster or ())
    selection = EntitySelection(names=names, everything=not names, clusters=clusters, all_clusters=not clusters)
    clock = SystemClock()
    now = clock.now().replace(second=0, microsecond=0)
    if show:
        options = replace(run, dry_run=True).options(now, selection)
        found = restorable(own, options, clock, NeverStopped())
        form = OutputFormat.TEXT if run.output is ResultFormat.TEXT else OutputFormat.JSON
        print_answer(form, restorable_document(found), *restorable_lines(found))
        return 0
    command = run.command(NAME, partial(restored, own), RESTORE_VIEW)
    with command.failures_delivered():
        return command.execute(run.options(now, selection))
