"""`feedctl instance list`: what is there of a feed's instances, where they should be, or the runs that there were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.cli.instance_answers import answer, filters_of, print_instances, requested_range, wanted_clusters
from toolkit.cli.option_values import BadOption, MissingOption
from toolkit.cli.options import OutputFormat, print_rows
from toolkit.cli.streams import say
from toolkit.entities import Feed

if TYPE_CHECKING:
    from toolkit.cli.flags import AnswerFlags
    from toolkit.cli.instance_options import InstanceFlags
    from toolkit.entities.repository import Repository
    from toolkit.planning.listing import ListedInstance


def print_list(flags: InstanceFlags, repo: AnswerFlags) -> None:
    """Print what the options ask for.

    Raises:
        BadOption, MissingOption: options that do not go together.
        InvalidInput: no such entity or range, no usable config repo or ledger.
        FeedctlError: what a store answered that could not be looked at, once all else is printed.
    """
    if flags.life_cycle is not None:
        from toolkit.management.questions import recorded_instances

        print_instances(answer(flags, repo, recorded_instances), repo.output)
        return
    repository = repo.entities()
    entity = repository.entity(flags.name)
    if isinstance(entity, Feed) and not flags.planned:
        _print_data(repository, entity, flags, repo.output)
    else:
        _print_planned(repository, flags, repo.output)


def _print_data(repository: Repository, feed: Feed, flags: InstanceFlags, output: OutputFormat) -> None:
    from toolkit.availability import DataState
    from toolkit.bootstrap.feed_readers import reader_of
    from toolkit.clock import SystemClock
    from toolkit.management.data import DataRange, instance_data
    from toolkit.management.locations import chosen_clusters
    from toolkit.rendering.instances import DATA_COLUMNS, DATA_STYLES, data_document, data_rows
    from toolkit.variables import process_variables

    flags.require_no_choice(but=("filter_by", "limit"))
    filters = filters_of(flags.filter_by or (), DataState)
    for name, is_given in (("STARTEDAFTER", filters.started_after is not None), ("SOURCECLUSTER", filters.sources)):
        if is_given:
            raise BadOption(option="--filter-by", found=name, expected="STATUS or CLUSTER: only runs have it")
    wanted = DataRange(
        requested=requested_range(flags), now=SystemClock().now(), most=flags.limit, states=filters.statuses
    )
    clusters = chosen_clusters(repository, feed, wanted_clusters(flags.cluster, filters.clusters))
    look = reader_of(repository, process_variables())
    found = instance_data(feed, clusters, wanted, lambda name: look(feed, repository.cluster(name)))
    rows, problems = data_rows(found), [each.problem for each in found.clusters if each.problem is not None]
    nothing = "nothing could be looked at" if problems else "no such instances"
    print_rows(output, lambda: data_document(found), DATA_COLUMNS, rows, DATA_STYLES, nothing=nothing)
    for problem in problems[1:]:
        say(f"feedctl: {problem}")
    if problems:
        raise problems[0]


def _print_planned(repository: Repository, flags: InstanceFlags, output: OutputFormat) -> None:
    from toolkit.el import parse_instant
    from toolkit.planning.listing import list_instances

    if flags.first is None:
        raise MissingOption(option="--start", command="instance list")
    flags.require_no_choice()
    end = None if flags.end is None else parse_instant(flags.end)
    start = parse_instant(flags.first)
    rows = _rows(list_instances(repository, flags.name, start, end, flags.cluster))
    columns = ("cluster", "instance", "what", "where")
    print_rows(
        output,
        lambda: {"name": flags.name, "instances": [dict(zip(columns, row, strict=True)) for row in rows]},
        columns,
        rows,
        nothing="no instances in that range",
    )


def _rows(instances: Iterator[ListedInstance]) -> Iterator[tuple[str, str, str, str]]:
    from toolkit.el import format_instant

    for each in instances:
        for place in each.places:
            yield each.cluster, format_instant(each.instant), place.role, place.place
