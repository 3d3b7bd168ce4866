"""The options that the entrypoints of all actions share."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.completion import cluster_names, feed_names, group_names, tag_texts
from toolkit.rendering.tables import ResultFormat

Feeds = Annotated[
    list[str] | None,
    typer.Option("--feed", metavar="NAME", autocompletion=feed_names, help="A feed; may be given more than once."),
]
All = Annotated[bool, typer.Option("--all", help="All feeds of the config repo.")]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="NAME", autocompletion=group_names, help="Feeds in this group (in all of them)."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", metavar="KEY=VALUE", autocompletion=tag_texts, help="Feeds with this tag (with all of them)."
    ),
]
Clusters = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        autocompletion=cluster_names,
        help="On this cluster; may be given more than once. Needed when environment and feed leave more than one.",
    ),
]
AllClusters = Annotated[
    bool, typer.Option("--all-clusters", help="Each feed on all its clusters that the environment allows.")
]
Time = Annotated[
    str,
    typer.Option(
        "--time", metavar="INSTANT", help="The nominal time, for example 2026-03-01T06:40Z; never the future."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and touch nothing.")]
Approve = Annotated[
    str | None, typer.Option("--approve", metavar="DIGEST", help="Accept exactly this plan, over its limits too.")
]
AllowDirty = Annotated[bool, typer.Option("--allow-dirty", help="Act on a checkout with uncommitted changes.")]
NoLedger = Annotated[
    bool,
    typer.Option(
        "--no-ledger",
        help="Act without the ledger: no lease, no record but the audit file, no holds of `feedctl hold`.",
    ),
]
OutputAs = Annotated[ResultFormat, typer.Option("--output", help="How to print the result.")]
ResultFileAt = Annotated[
    str | None,
    typer.Option(
        "--result-file",
        metavar="PATH|URI",
        help="Write the JSON result to this file as well, on any store, atomically.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Text: only what is not well; nothing when all is well.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Text: a line for each item, instead of ranges.")]
