"""Updates of datasets that other programs announce: checked against the config repo, and written to the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.el import format_instant, parse_instant
from toolkit.el.dataset_uri import DatasetUri, feed_uri, parse
from toolkit.errors import InvalidInput
from toolkit.foreign_json import parse_json
from toolkit.ledger import external_events
from toolkit.ledger.external_events import EmittedEvent, ExternalUpdate
from toolkit.ledger.state.commands import record
from toolkit.management.locations import chosen_clusters
from toolkit.planning.dataset_aliases import DatasetAliases

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import Feed, Repository
    from toolkit.ledger.database import Ledger, Transaction

MOST_EXTRA = 64 << 10
"""Longest `--extra`, in bytes: it is one row of the ledger."""
RESERVED_EXTRA = ("fingerprint", "poll")
"""Keys of `event.extra` that runs and polls write of data that they have seen."""
LONGEST_ID = 255
"""Most characters of an idempotency key."""


class FeedByName(InvalidInput):
    """A plain name that is a feed's, where a dataset's URI is expected.

    Args:
        feed: the feed.
    """

    code = "feed_by_name"

    def __init__(self, *, feed: Feed) -> None:
        self.feed = feed.name
        uris = " or ".join(feed_uri(feed.name, each.name) for each in feed.clusters)
        super().__init__(f"{feed.name} is a feed; expected the URI of its dataset: {uris}")


class FutureUpdate(InvalidInput):
    """An instance of `--time` whose time has not come.

    Args:
        key: of the instance.
        now: the present instant.
    """

    code = "future_update"

    def __init__(self, *, key: str, now: datetime) -> None:
        self.key = key
        super().__init__(
            f"--time: found {key}, a time to come; expected one that is not after now, {format_instant(now)}"
        )


class BadExtra(InvalidInput):
    """A value of `--extra` that is no JSON object, or has an odd partition.

    Args:
        why: what was found.
    """

    code = "bad_extra"

    def __init__(self, *, why: str) -> None:
        self.why = why
        example = """'{"rows": 17, "partition": {"region": "us"}}'"""
        super().__init__(f"--extra: {why}; expected a JSON object of at most {MOST_EXTRA} bytes, such as {example}")


class BadIdempotencyKey(InvalidInput):
    """A value of `--id` that cannot be an idempotency key.

    Args:
        why: what was found.
    """

    code = "bad_idempotency_key"

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"--id: {why}; expected 1 to {LONGEST_ID} printable characters that name this update alone")


def dataset_of(repository: Repository, text: str) -> DatasetUri:
    """Return the dataset that a user means: of a feed by an alias too.

    Raises:
        ElError: no valid URI.
        FeedByName: the name of a feed.
        AmbiguousAlias: the place of several feeds.
    """
    found = DatasetAliases.of(repository).resolve(parse(text))
    if found.text in repository.feeds:
        raise FeedByName(feed=repository.feeds[found.text])
    return found


def external_update(repository: Repository, uri: str, key: str | None = None) -> ExternalUpdate:
    """Return the update of what a user names.

    Args:
        repository: all entities.
        uri: of the dataset, or an alias.
        key: of the instance; None: the series as such.

    Raises:
        ElError: no valid URI or instant; of a feed, the instant is no instance of it, and the message has the nearest.
        UnknownName: no such feed, or it is not on the cluster.
        NotInEnvironment: the environment may not act on the cluster.
        FeedByName: the name of a feed.
        AmbiguousAlias: the place of several feeds.
    """
    dataset = dataset_of(repository, uri)
    instant = None if key is None else parse_instant(key)
    update = ExternalUpdate(dataset=dataset.text, instance_key="" if instant is None else format_instant(instant))
    if dataset.feed is None or dataset.cluster is None:
        return update
    feed = repository.feed(dataset.feed)
    chosen_clusters(repository, feed, (dataset.cluster,))
    if instant is not None:
        feed.instances_on(dataset.cluster).index(instant)
    return replace(update, feed=dataset.feed, cluster=dataset.cluster)


def refuse_future(update: ExternalUpdate, now: datetime) -> None:
    """Refuse the update of an instance whose time has not come.

    Raises:
        FutureUpdate: it is later than now.
    """
    present = now.replace(second=0, microsecond=0)
    if update.instance_key and parse_instant(update.instance_key) > present:
        raise FutureUpdate(key=update.instance_key, now=present)


def checked_extra(text: str | None) -> str | None:
    """Return the JSON object of `--extra` as the ledger keeps it.

    Raises:
        BadExtra: it is none, its `partition` is no object of texts, or it has a key of feedctl's own.
    """
    if text is None:
        return None
    try:
        value = parse_json(text.encode("utf-8", "surrogatepass"), most_bytes=MOST_EXTRA)
        kept = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        kept.encode("utf-8")
    except ValueError as error:  # BadJson, a number that JSON has not, or half a character
        raise BadExtra(why=f"no JSON in UTF-8 ({error})") from error
    if not isinstance(value, Mapping):
        raise BadExtra(why=f"found {_NAMES.get(type(value), 'a number')}")
    partition = value.get("partition", {})
    if taken := [f"`{key}`" for key in RESERVED_EXTRA if key in value]:
        raise BadExtra(why=f"{' and '.join(taken)} only feedctl itself writes; choose another name")
    if not isinstance(partition, Mapping) or not all(isinstance(each, str) for each in partition.values()):
        raise BadExtra(why="`partition` is no object of texts")
    return kept


_NAMES: Mapping[type, str] = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


def checked_id(text: str | None) -> str | None:
    """Return an idempotency key.

    Raises:
        BadIdempotencyKey: it is empty, too long or not printable.
    """
    if text is not None and not text:
        raise BadIdempotencyKey(why="it is empty")
    if text is not None and len(text) > LONGEST_ID:
        raise BadIdempotencyKey(why=f"it has {len(text)} characters")
    if text is not None and not text.isprintable():
        raise BadIdempotencyKey(why="it has characters that cannot be printed")
    return text


def emit_update(ledger: Ledger, update: ExternalUpdate, who: str) -> EmittedEvent:
    """Write the event of an update, and who announced it, unless its idempotency key was used before.

    Raises:
        IdempotencyKeyReused: it was used for something else.
        LedgerUnavailable: the ledger cannot be used now.
    """
    return _commanded(ledger, "event emit", update, who, external_events.emit)


def retract_update(ledger: Ledger, update: ExternalUpdate, who: str) -> EmittedEvent:
    """Write the event that data is not valid any more, and who said so, unless it is gone already.

    Raises:
        NeverAnnounced: no event has announced the data.
        LedgerUnavailable: the ledger cannot be used now.
    """
    return _commanded(ledger, "event retract", update, who, external_events.retract)


def _commanded(
    ledger: Ledger,
    command: str,
    update: ExternalUpdate,
    who: str,
    write: Callable[[Transaction, ExternalUpdate], EmittedEvent],
) -> EmittedEvent:
    subject = f"{update.dataset} {update.instance_key}".rstrip()

    def work(tx: Transaction) -> EmittedEvent:
        done = write(tx, update)
        record(tx, command, subject, who, changed=done.is_new, detail=update.idempotency_key)
        return done

    return ledger.write(work)
