"""`feedctl export`: what a scheduler has to start, for cron, Oozie and Airflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import cluster_names
from toolkit.cli.flags import ConfigRepo, Env, RepoFlags, flat

if TYPE_CHECKING:
    from toolkit.cli.export_files import Change
    from toolkit.result import ExitCode
    from toolkit.schedules.actions import Schedule

app = typer.Typer(no_args_is_help=True)


class DriverAt(StrEnum):
    """The values of `--deploy-mode`: those of the schema, which takes longer to load than `--help` to answer."""

    CLIENT = "client"
    """The place where spark-submit is started."""
    CLUSTER = "cluster"
    """In the cluster."""


Check = Annotated[
    bool, typer.Option("--check", help="Write nothing; exit code 1 when the files are not what the repo says.")
]
Crontab = Annotated[
    Path | None,
    typer.Option("--into", metavar="FILE", help="The crontab whose block is written anew. Default: print the block."),
]
Folder = Annotated[Path, typer.Option("--into", metavar="DIR", help="The folder for the files.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleFlags:
    """The actions that a scheduler has to start."""

    cluster: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster",
            metavar="NAME",
            autocompletion=cluster_names,
            help="Only what is started for this cluster; may be given more than once. Default: all of the environment.",
        ),
    ] = None
    config_repo: ConfigRepo = None
    env: Env = None
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Spark's master. Default: that of the environment.")
    ] = None
    deploy_mode: Annotated[
        DriverAt | None, typer.Option("--deploy-mode", help="Spark's deploy mode. Default: that of the environment.")
    ] = None

    def schedule(self) -> Schedule:
        """Return the schedule, and say what it leaves out."""
        from toolkit.bootstrap.schedules import schedule_of
        from toolkit.cli.option_values import BadOption
        from toolkit.cli.streams import say
        from toolkit.entities.formats import FORMATS, allows
        from toolkit.entities.vocabulary import DeployMode

        if self.master is not None and not allows(FORMATS["argument"], self.master):
            raise BadOption(option="--master", found=self.master, expected="a printable text with no blank at its ends")
        mode = None if self.deploy_mode is None else DeployMode(self.deploy_mode)
        repo = RepoFlags(config_repo=self.config_repo, env=self.env).request()
        schedule = schedule_of(repo, self.cluster or (), master=self.master, deploy_mode=mode)
        for each in schedule.left_out:
            say(f"left out: {each.name} on {each.cluster}: {each.reason}")
        return schedule


@app.callback()
def export() -> None:
    """Write what a scheduler has to start, and when, from the entities and the `schedules` of the environment."""


@app.command("cron")
@flat
def cron(*, into: Crontab = None, check: Check = False, which: ScheduleFlags) -> int:
    """Write lines of a crontab, between two marks; all other lines of the file stay."""
    from toolkit.cli.export_files import crontab_changes
    from toolkit.cli.option_values import MissingOption
    from toolkit.cli.streams import print_result
    from toolkit.result import ExitCode
    from toolkit.schedules.cron import crontab_block

    if into is None and check:
        raise MissingOption(option="--into", command="export cron")
    schedule = which.schedule()
    if into is None:
        print_result(crontab_block(schedule))
        return ExitCode.DONE
    return _deliver(crontab_changes(schedule, into), schedule, check=check)


@app.command("oozie")
@flat
def oozie(*, into: Folder, check: Check = False, which: ScheduleFlags) -> int:
    """Write a bundle for each cluster, with a coordinator and a workflow for each action."""
    from toolkit.cli.export_files import folder_changes
    from toolkit.schedules.oozie import oozie_files

    schedule = which.schedule()
    return _deliver(folder_changes(oozie_files(schedule), into), schedule, check=check)


@app.command("airflow")
@flat
def airflow(*, into: Folder, check: Check = False, which: ScheduleFlags) -> int:
    """Write a DAG for each cluster and domain, with a task for each action."""
    from toolkit.cli.export_files import folder_changes
    from toolkit.schedules.airflow import airflow_files

    schedule = which.schedule()
    return _deliver(folder_changes(airflow_files(schedule), into), schedule, check=check)


def _deliver(changes: Sequence[Change], schedule: Schedule, *, check: bool) -> ExitCode:
    from toolkit.cli.export_files import make
    from toolkit.cli.streams import print_result, say
    from toolkit.result import ExitCode

    if check:
        print_result(line for each in changes for line in each.diff())
        if changes:
            say(f"{len(changes)} files are not what the config repo says; the same command without --check writes them")
        return ExitCode.FAILED if changes else ExitCode.DONE
    make(changes)
    removed = sum(each.after is None for each in changes)
    print(f"{len(schedule.actions)} actions: {len(changes) - removed} files written, {removed} removed")
    return ExitCode.DONE
