"""The options of `feedctl instance`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.options import ClusterName
from toolkit.ledger.vocabulary import LifeCycle


class OrderBy(StrEnum):
    """Sort order of instances (Falcon feature list, Instance operations)."""

    STATUS = "status"
    """The name of the status."""
    START = "startTime"
    """When the run began."""
    END = "endTime"
    """When it ended."""
    CLUSTER = "cluster"
    """The name of the cluster."""
    INSTANCE = "instance"
    """The instance time."""


class SortOrder(StrEnum):
    """In which direction."""

    ASC = "asc"
    """The smallest first."""
    DESC = "desc"
    """The largest first."""


Name = Annotated[str, typer.Argument(metavar="NAME", autocompletion=entity_names, help="A feed or a process.")]
OneTime = Annotated[str, typer.Option("--time", metavar="INSTANT", help="The instance, by its nominal time.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is recorded.")]
Force = Annotated[bool, typer.Option("--force", help="From the first step; otherwise from the one that failed.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceFlags:
    """The instances that a command is about; an option that a command does not have says nothing."""

    name: Name
    time: Annotated[str | None, typer.Option("--time", metavar="INSTANT", help="This instance alone.")] = None
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="INSTANT",
            help="The first instance; without --end, this one alone. Default: the ten newest that are due.",
        ),
    ] = None
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="The end of the range, which is not part of it.")
    ] = None
    force: Force = False
    step: Annotated[
        str | None, typer.Option("--step", metavar="STEP", help="Print the log of this step only; goes with --time.")
    ] = None
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the instance is over; goes with --time.")] = (
        False
    )
    cluster: ClusterName = None
    life_cycle: Annotated[
        LifeCycle | None,
        typer.Option(
            "--life-cycle",
            help="What is done with the instances. Default: execution; of a feed, replication, or to look at the only "
            "one.",
        ),
    ] = None
    filter_by: Annotated[
        list[str] | None,
        typer.Option(
            "--filter-by",
            metavar="KEY:VALUE",
            help="Only with STATUS:status, CLUSTER:name, SOURCECLUSTER:name (of copies) or STARTEDAFTER:instant; "
            "several with commas, or repeated.",
        ),
    ] = None
    order_by: Annotated[OrderBy, typer.Option("--order-by", help="What to sort by.")] = OrderBy.INSTANCE
    sort_order: Annotated[
        SortOrder | None,
        typer.Option("--sort-order", help="Smallest or largest first. Default: asc; without --start, desc."),
    ] = None
    offset: Annotated[int, typer.Option("--offset", min=0, metavar="N", help="Skip this many at the beginning.")] = 0
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Show at most this many.")] = None
    all_attempts: Annotated[bool, typer.Option("--all-attempts", help="All attempts, not only the newest.")] = False
    planned: Annotated[
        bool, typer.Option("--planned", help="Of a feed, all its locations as they should be; no store is asked.")
    ] = False
    reason: Reason = None

    @property
    def first(self) -> str | None:
        """The first instance: that of `--start`, or the only one, of `--time`.

        Raises:
            BadOption: both were given.
        """
        from toolkit.cli.option_values import first_instance

        return first_instance(self.time, None if self.start == self.time else self.start, self.end)

    def require_no_choice(self, but: tuple[str, ...] = ()) -> None:
        """Refuse options that would have no effect on what is no run, rather than ignore them.

        Args:
            but: these have one.

        Raises:
            BadOption: one that chooses or arranges runs was given.
        """
        from toolkit.cli.option_values import BadOption

        for field in fields(self):
            found = getattr(self, field.name)
            if field.name in _OF_RUNS - {*but} and found != field.default:
                option = f"--{field.name.replace('_', '-')}"
                expected = "--life-cycle beside it: only runs that were recorded can be chosen so"
                raise BadOption(option=option, found=str(found), expected=expected)


_OF_RUNS = {"filter_by", "order_by", "sort_order", "offset", "limit", "all_attempts"}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningFlags(InstanceFlags):
    """Instances that run, whatever their time."""

    life_cycle: Annotated[
        LifeCycle | None, typer.Option("--life-cycle", help="What is done. Default: whatever it is.")
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedFlags(InstanceFlags):
    """Instances that are listed."""

    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="INSTANT",
            help="The first instance; without --end, this one alone. Default: the ten newest that are due, or of a "
            "kind of runs the newest; needed for a process and with --planned.",
        ),
    ] = None
    life_cycle: Annotated[
        LifeCycle | None,
        typer.Option("--life-cycle", help="List the recorded runs of this kind, not the instances themselves."),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CountedFlags(InstanceFlags):
    """Instances that are counted."""

    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="INSTANT",
            help="The first instance; without --end, this one alone. Default: all that are due.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedFlags(InstanceFlags):
    """Instances whose logs are shown."""

    time: Annotated[
        str | None,
        typer.Option("--time", metavar="INSTANT", help="This instance alone; the logs of its steps are printed."),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandedFlags(InstanceFlags):
    """Instances that a command changes."""

    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="INSTANT",
            help="The first instance; without --end, this one alone. This or --time is needed.",
        ),
    ] = None
