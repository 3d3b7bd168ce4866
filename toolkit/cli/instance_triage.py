"""`feedctl instance triage`: why an instance is not there."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

from toolkit.cli.option_values import instant_of
from toolkit.cli.options import OutputFormat, print_json

if TYPE_CHECKING:
    from toolkit.availability import FeedInstances
    from toolkit.cli.flags import AnswerFlags


def print_triage(name: str, time: str, cluster: str | None, repo: AnswerFlags) -> None:
    """Print what the instance waits for.

    Raises:
        InvalidInput: no such entity or instance, no usable config repo or ledger.
        LedgerUnavailable: the database cannot be used now.
    """
    from toolkit.bootstrap.feed_readers import reader_of
    from toolkit.clock import SystemClock
    from toolkit.management.locations import chosen_clusters, runnable
    from toolkit.management.triage import triage
    from toolkit.rendering.triage import triage_document, write_triage
    from toolkit.variables import process_variables

    instant = instant_of("--time", time)
    with repo.opened(writing=False) as (ledger, repository):
        entity = runnable(repository, name)
        clusters = chosen_clusters(repository, entity, () if cluster is None else (cluster,))
        read = reader_of(repository, process_variables())

        @cache
        def look(feed: str, on: str) -> FeedInstances:
            return read(repository.feed(feed), repository.cluster(on))

        found = triage(ledger, repository, entity, clusters, instant, SystemClock().now(), look)
    if repo.output is OutputFormat.JSON:
        print_json(triage_document(found))
    else:
        write_triage(found, sys.stdout)
