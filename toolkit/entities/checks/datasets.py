"""Polling, and the datasets of repo.yaml: each is there once, and what is polled can be read."""

from collections.abc import Iterator, Sequence

from toolkit.el import ElError, dataset_uri
from toolkit.entities.feed import Feed
from toolkit.entities.trigger import Dataset
from toolkit.entities.trigger_vocabulary import PollBy
from toolkit.entities.violation import Violation


def dataset_findings(datasets: Sequence[Dataset]) -> Iterator[Violation]:
    """Yield the findings about `datasets:` of `repo.yaml`."""
    seen: dict[str, str] = {}
    for index, each in enumerate(datasets):
        uri = dataset_uri.parse(each.uri)
        if uri.feed is not None:
            yield Violation(
                pointer=("datasets", index, "uri"),
                rule="dataset-feed",
                message=f"found the feed {uri.feed}, expected data that feedctl does not manage",
                hint="remove it: each feed is a dataset by itself; poll and sla belong into its file",
            )
        other = seen.get(uri.text)
        if other is not None:
            yield Violation(
                pointer=("datasets", index, "uri"),
                rule="duplicate-dataset",
                message=f"{each.uri} is there twice"
                if each.uri == other
                else f"{each.uri} and {other} are one dataset",
                hint="keep one of them",
            )
        seen[uri.text] = each.uri
        if each.poll is not None:
            yield from _poll_findings(uri, index)


def _poll_findings(uri: dataset_uri.DatasetUri, index: int) -> Iterator[Violation]:
    try:
        uri.storage_path()
    except ElError as error:
        yield Violation(
            pointer=("datasets", index, "poll"),
            rule="poll-source",
            message=f"data that is in no store cannot be polled: {error}",
            hint="remove poll; `feedctl event emit` announces its updates",
            on_key=True,
        )


def check_polls(feed: Feed) -> Iterator[Violation]:
    """A poll by flag has a flag to look for."""
    for index, each in enumerate(feed.clusters):
        if each.poll is not None and each.poll.by is PollBy.FLAG and feed.availability_flag is None:
            yield Violation(
                pointer=("clusters", index, "poll", "by"),
                rule="poll-source",
                message="by: flag, but the feed has no availability_flag",
                hint="add availability_flag: NAME to the feed, or write by: listing",
            )


OWN_CHECKS = (check_polls,)
