"""`feedctl verify`: whether targets still have what was copied to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import cluster_names, entity_names
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import OutputFormat, print_answer

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress


@flat
def verify(
    *,
    feed: Annotated[str, typer.Argument(metavar="FEED", autocompletion=entity_names, help="A feed with a target.")],
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster", metavar="NAME", autocompletion=cluster_names, help="Only this target. Default: all targets."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="NAME",
            autocompletion=cluster_names,
            help="Only what was copied from this cluster. Default: all.",
        ),
    ] = None,
    time: Annotated[str | None, typer.Option("--time", metavar="INSTANT", help="This instance alone.")] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="INSTANT", help="From here on; alone: this instance. Default: all that were copied."
        ),
    ] = None,
    end: Annotated[str | None, typer.Option("--end", metavar="INSTANT", help="With --start: only before this.")] = None,
    repo: AnswerFlags,
) -> int:
    """Read the files of a target again and compare them with what was copied; exit code 4: something differs.

    The ledger's digests tell; what it has none of is compared with the source. 75: a run is copying it just now.
    """
    from toolkit.bootstrap.replication import ReplicationOptions
    from toolkit.bootstrap.verify import VerifyOptions
    from toolkit.bootstrap.verify import verify as verified
    from toolkit.cli.option_values import first_instance
    from toolkit.clock import SystemClock
    from toolkit.rendering.verify import verification_document, verification_exit, verification_lines
    from toolkit.runs.stop import NeverStopped

    request = VerifyOptions(
        feed=feed,
        cluster=cluster,
        chosen=ReplicationOptions(source=source, start=first_instance(time, start, end), end=end),
        repo=repo.request(),
    )
    found = verified(request, SystemClock(), NeverStopped(), _progress(repo.output))
    print_answer(repo.output, verification_document(feed, found), *verification_lines(feed, found))
    return verification_exit(found)


def _progress(output: OutputFormat) -> Progress:
    import sys

    if output is OutputFormat.JSON or not sys.stderr.isatty():
        from toolkit.rendering.progress import LoggedProgress

        return LoggedProgress(what="verify")
    from toolkit.rendering.terminal_progress import TerminalProgress

    return TerminalProgress(what="verify")
