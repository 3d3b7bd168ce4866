"""`feedctl doctor`: what is reachable with which identity, and what is missing."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import ClusterName, OutputFormat, print_json


@flat
def doctor(
    *,
    cluster: ClusterName = None,
    datasource: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only this datasource: its servers, and what the account may do there."),
    ] = None,
    spark: Annotated[
        bool, typer.Option("--spark", help="Check Spark's executors too; makes a Spark context, which takes seconds.")
    ] = False,
    repo: AnswerFlags,
) -> int:
    """Check this machine, the clusters, tokens and the ledger, and change nothing; exit code 1: a check failed."""
    from toolkit.bootstrap.doctor import DoctorOptions, diagnose
    from toolkit.clock import SystemClock
    from toolkit.doctor.findings import CheckStatus, worst
    from toolkit.rendering.doctor import findings_document, write_findings
    from toolkit.result import ExitCode

    options = DoctorOptions(cluster=cluster, datasource=datasource, repo=repo.request(), spark=spark)
    found = diagnose(options, SystemClock().now())
    if repo.output is OutputFormat.JSON:
        print_json(findings_document(found))
    else:
        write_findings(found, sys.stdout)
    return ExitCode.FAILED if worst(found) is CheckStatus.FAILED else ExitCode.DONE
