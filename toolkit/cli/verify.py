"""`feedctl verify`: whether targets still have what was copied to them, by replication or by a mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import cluster_names, entity_names
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import OutputFormat, print_answer
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from toolkit.actions.progress import Progress
    from toolkit.bootstrap.verify import MirrorVerifyOptions, VerifyOptions


class VerifyChoice(InvalidInput):
    """Neither a feed nor a mirror was named, or both."""

    def __init__(self) -> None:
        super().__init__("give a FEED, or --mirror NAME without --source, --time, --start and --end")


@flat
def verify(
    *,
    feed: Annotated[
        str | None, typer.Argument(metavar="FEED", autocompletion=entity_names, help="A feed with a target.")
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option("--mirror", metavar="NAME", help="This mirror instead: its target is compared with its source."),
    ] = None,
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

    The ledger's digests tell; what it has none of is compared with the source, as all files of a mirror are. 75: a run
    is copying it just now.
    """
    from toolkit.bootstrap.replication import ReplicationOptions
    from toolkit.bootstrap.verify import MirrorVerifyOptions, VerifyOptions
    from toolkit.cli.option_values import first_instance

    if mirror is None and feed is not None:
        chosen = ReplicationOptions(source=source, start=first_instance(time, start, end), end=end)
        return _printed(feed, VerifyOptions(feed=feed, cluster=cluster, chosen=chosen, repo=repo.request()), repo)
    if mirror is None or feed or source or time or start or end:
        raise VerifyChoice
    return _printed(mirror, MirrorVerifyOptions(mirror=mirror, cluster=cluster, repo=repo.request()), repo)


def _printed(name: str, request: VerifyOptions | MirrorVerifyOptions, repo: AnswerFlags) -> int:
    from toolkit.bootstrap.verify import MirrorVerifyOptions, verify_mirror
    from toolkit.bootstrap.verify import verify as verify_feed
    from toolkit.clock import SystemClock
    from toolkit.rendering.verify import verification_document, verification_exit, verification_lines
    from toolkit.runs.stop import NeverStopped

    if isinstance(request, MirrorVerifyOptions):
        found = verify_mirror(request, SystemClock(), NeverStopped())
    else:
        found = verify_feed(request, SystemClock(), NeverStopped(), _progress(repo.output))
    print_answer(repo.output, verification_document(name, found), *verification_lines(name, found))
    return verification_exit(found)


def _progress(output: OutputFormat) -> Progress:
    import sys

    if output is OutputFormat.JSON or not sys.stderr.isatty():
        from toolkit.rendering.progress import LoggedProgress

        return LoggedProgress(what="verify")
    from toolkit.rendering.terminal_progress import TerminalProgress

    return TerminalProgress(what="verify")
