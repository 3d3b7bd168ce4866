"""The command of the entrypoint that judges an instance by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli import action_options as options
from toolkit.cli.completion import cluster_names, feed_names
from toolkit.cli.options import ConfigRepo, Env, Output, OutputAs

Feed = Annotated[str, typer.Option("--feed", metavar="NAME", autocompletion=feed_names, help="The feed.")]
Time = Annotated[
    str,
    typer.Option("--time", metavar="INSTANT", help="The instance, for example 2026-03-01T06:00Z; never the future."),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="NAME", autocompletion=cluster_names, help="Where, when there is more than one."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be asked of the data, and judge nothing.")]


def validate(
    *,
    time: Time,
    feed: Feed,
    cluster: Cluster = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    dry_run: DryRun = False,
    allow_dirty: options.AllowDirty = False,
    output: OutputAs = Output.TEXT,
) -> int:
    """Judge what is there of an instance: 0, all that is critical holds; 1, it does not; 75, the instance is not there.

    Nothing is changed, and nothing is announced because of it; the verdict is in the ledger, by hand.
    """
    import os

    from toolkit.bootstrap.validating import ValidateOptions, asked_of, judged_by_hand
    from toolkit.cli.action_command import nominal_time_of
    from toolkit.cli.options import print_json
    from toolkit.clock import SystemClock
    from toolkit.printable import on_one_line
    from toolkit.rendering.quality import made_lines, question_document, question_lines, verdict_document, verdict_exit
    from toolkit.runs.stop import watched_signals

    asked = ValidateOptions(
        feed=feed,
        cluster=cluster,
        nominal_time=nominal_time_of(time),
        config_repo=config_repo,
        environment=env,
        dry_run=dry_run,
        allow_dirty=allow_dirty,
    )
    with watched_signals(os.environ) as stop:
        if dry_run:
            question, notes = asked_of(asked, SystemClock(), stop)
            if output is Output.JSON:
                print_json(question_document(question, notes))
            else:
                print(*map(on_one_line, question_lines(question, notes)), sep="\n")
            return 0
        judged = judged_by_hand(asked, SystemClock(), stop)
    if output is Output.JSON:
        print_json({"verdict": verdict_document(judged.verdict, judged.findings), "notes": list(judged.notes)})
    else:
        print(*map(on_one_line, made_lines(judged.verdict, judged.findings, judged.notes)), sep="\n")
    return verdict_exit(judged.verdict, judged.findings)
