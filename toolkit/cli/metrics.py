"""`feedctl metrics`: figures of the installation for Prometheus, StatsD and Graphite."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import RepoFlags, flat

if TYPE_CHECKING:
    from toolkit.metrics.collection import Collected
    from toolkit.metrics.samples import Sample
    from toolkit.metrics.sink import MetricsSink


class MetricsFormat(StrEnum):
    """The values of `--output`: those of `ExpositionFormat`, whose module takes longer to load than `--help`."""

    TEXT = "text"
    """Prometheus' own."""
    OPENMETRICS = "openmetrics"
    """OpenMetrics 1.0."""


@flat
def metrics(
    *,
    textfile: Annotated[
        Path | None,
        typer.Option(
            "--textfile", metavar="FILE", help="Replace this file, for the textfile collector. Default: print them."
        ),
    ] = None,
    form: Annotated[MetricsFormat, typer.Option("--output", help="The format of the text.")] = MetricsFormat.TEXT,
    push: Annotated[
        bool, typer.Option("--push", help="Send them to the servers in `monitoring.metrics` of repo.yaml.")
    ] = False,
    time: Annotated[
        str | None, typer.Option("--time", metavar="INSTANT", help="Ages are counted up to then. Default: now.")
    ] = None,
    repo: RepoFlags,
) -> int:
    """Print metrics of runs, SLAs, alerts and messages, write them to a file, or send them; exit code 1: no ledger."""
    from toolkit.bootstrap.metrics import collected, sinks_of
    from toolkit.el import parse_instant
    from toolkit.metrics.exposition import ExpositionFormat, exposed

    found, repository = collected(repo.request(), None if time is None else parse_instant(time))
    sinks = sinks_of(repository) if push else ()
    if textfile is not None or not sinks:
        _deliver(exposed(found.samples, ExpositionFormat(form)), textfile)
    are_sent = _sent(sinks, found.samples)
    return _exit_code(found, are_sent=are_sent)


def _deliver(text: bytes, textfile: Path | None) -> None:
    from toolkit.cli.export_files import ExportNotWritten
    from toolkit.cli.streams import print_result
    from toolkit.plain_files import replace_file

    if textfile is None:
        print_result(text.decode())
        return
    try:
        replace_file(textfile, text)
    except OSError as error:
        raise ExportNotWritten(file=textfile, reason=error.strerror or str(error)) from error


def _sent(sinks: Sequence[MetricsSink], samples: Sequence[Sample]) -> bool:
    """Send the samples to each server; one that is down does not keep them from the others."""
    from toolkit.cli.streams import say
    from toolkit.metrics.sink import MetricsNotSent

    failed = 0
    for sink in sinks:
        try:
            sink.send(samples)
        except MetricsNotSent as error:
            say(f"feedctl: {error}")
            failed += 1
    return not failed


def _exit_code(found: Collected, *, are_sent: bool) -> int:
    from toolkit.cli.streams import say
    from toolkit.result import ExitCode

    if found.folded:
        say(
            f"{found.folded} time series are beyond the bound and counted together as the entity `other`; raise "
            "`monitoring.metrics.max_series` in repo.yaml, or leave it so"
        )
    if found.problem is not None:
        say(f"feedctl: {found.problem}")
    return ExitCode.FAILED if found.problem is not None or not are_sent else ExitCode.DONE
