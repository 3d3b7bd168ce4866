"""Texts of new entities: what the config repo at hand suggests, with comments for who fills them in; each lints."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from toolkit.el import Frequency, Unit, format_instant, load_zone, localize, to_local
from toolkit.entities.entity_loading import load_entries
from toolkit.entities.feed import Feed
from toolkit.entities.parsing import parse_files
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import SUFFIX, defaults_for, entity_name
from toolkit.entities.templates import path_template
from toolkit.entities.vocabulary import Kind
from toolkit.errors import InvalidInput

KINDS = (Kind.CLUSTER, Kind.FEED, Kind.PROCESS)
"""Kinds of which there are drafts."""


class NameTaken(InvalidInput):
    """An entity of this name is there already.

    Args:
        name: of both.
        file: of the one that is there.
    """

    def __init__(self, *, name: str, file: str) -> None:
        self.name, self.file = name, file
        super().__init__(f"{file} has an entity named {name!r} already, and a name is given once; choose another")


class NoClusterYet(InvalidInput):
    """A feed or process is on a cluster, and the config repo has none."""

    def __init__(self) -> None:
        super().__init__("the config repo has no cluster to be on; make one first: feedctl entity new cluster NAME")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Usual:
    """Usual values in a config repo.

    Attributes:
        frequency: of most feeds on the cluster.
        timezone: in which such a frequency is counted.
        start: the beginning of the year in which the newest feed on the cluster begins.
        parent: the folder or URI that most feeds on the cluster are in, and that no feed is all of.
    """

    cluster: str
    frequency: Frequency
    timezone: str
    start: datetime
    parent: str


def draft(
    repository: Repository, files: Mapping[str, bytes], kind: Kind, name: str, now: datetime
) -> Mapping[str, str]:
    """The files of a new entity, by their paths in the config repo; the entity's own is the first.

    Args:
        repository: has what the values are taken from.
        files: of the config repo; what a `defaults.yaml` has for the new file is taken first.
        kind: a cluster, feed or process.
        name: a valid name.
        now: the first instance is at the beginning of this year, unless feeds are there and begin in another.

    Raises:
        NameTaken: an entity has that name.
        NoClusterYet: there is no cluster for a feed or process.
    """
    if name in repository.entries:
        raise NameTaken(name=name, file=repository.file_of(name))
    file = f"{kind.folder}/{name}{SUFFIX}"
    if kind is Kind.CLUSTER:
        return {file: _CLUSTER.format(name=name, host=name.replace("_", "-").lower())}
    inherited = _inherited(files, kind, file)
    usual = _usual(repository, name, inherited, now)
    values = {
        "name": name,
        "cluster": usual.cluster,
        "frequency": usual.frequency,
        "timezone": usual.timezone,
        "start": format_instant(usual.start),
    }
    if kind is Kind.FEED:
        path = json.dumps(f"{usual.parent}/{name}/{_DATES[usual.frequency.unit]}", ensure_ascii=False)
        return {file: _without(inherited, _FEED.format(**values, path=path))}
    script = f"workflows/{name}.sh"
    feed = min(repository.feeds, default="FEED")
    text = _PROCESS.format(**values, script=script, feed=feed)
    return {file: _without(inherited, text), script: _SCRIPT.format(name=name)}


def _without(inherited: Mapping[str, str], text: str) -> str:
    """A text without lines that say what the defaults say: a default that every file has itself is used by none."""
    repeated = [f"{key}: {value} #" for key, value in inherited.items()]
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(tuple(repeated)))


def _inherited(files: Mapping[str, bytes], kind: Kind, file: str) -> Mapping[str, str]:
    """The frequency and time zones that a new file has from the defaults above it."""
    above = {path: files[path] for path in defaults_for(file) if path in files}
    parsed = parse_files({**above, file: f"kind: {kind}\nname: {entity_name(file)}\n".encode()})
    ((entry,), _) = load_entries(parsed, None, None)
    keys = ("frequency", "timezone", "path_timezone")
    return {key: str(entry.document[key]) for key in keys if entry.document.get(key) is not None}


def _usual(repository: Repository, name: str, inherited: Mapping[str, str], now: datetime) -> _Usual:
    cluster = _usual_cluster(repository)
    feeds = sorted(_path_feeds(repository, cluster), key=lambda feed: feed.name)
    frequencies = Counter(str(feed.frequency) for feed in feeds).most_common(1) or [("days(1)", 1)]
    frequency = Frequency.parse(inherited.get("frequency", frequencies[0][0]))
    zones = Counter(feed.timezone for feed in feeds if feed.frequency == frequency).most_common(1) or [("UTC", 1)]
    # Hours of a zone that puts its clocks back would meet in one path.
    timezone = "UTC" if frequency.unit.is_elapsed else inherited.get("timezone", zones[0][0])
    newest = max((feed.cluster(cluster).validity.start for feed in feeds), default=now)
    return _Usual(
        cluster=cluster,
        frequency=frequency,
        timezone=timezone,
        start=_start_of_year(newest, load_zone(timezone)),
        parent=_free_parent([_base(feed, cluster) for feed in feeds], name),
    )


def _start_of_year(instant: datetime, zone: ZoneInfo) -> datetime:
    return localize(to_local(instant, zone).replace(month=1, day=1, hour=0, minute=0), zone)


def _usual_cluster(repository: Repository) -> str:
    """The cluster that most environments may act on, and of those the one that most feeds are on."""
    if not repository.clusters:
        raise NoClusterYet
    used = Counter(each.name for feed in repository.feeds.values() for each in feed.clusters)
    environments = repository.environments.values()
    return max(
        sorted(repository.clusters), key=lambda name: (sum(each.allows(name) for each in environments), used[name])
    )


def _path_feeds(repository: Repository, cluster: str) -> Iterator[Feed]:
    for feed in repository.feeds.values():
        if any(each.name == cluster for each in feed.clusters) and feed.locations_on(cluster).data is not None:
            yield feed


def _base(feed: Feed, cluster: str) -> str:
    return path_template(feed.locations_on(cluster).data or "/").base.rstrip("/")


def _free_parent(bases: list[str], name: str) -> str:
    """Return the commonest folder around the bases in which the new name is neither around nor below a base."""
    parents = Counter(base.rpartition("/")[0] for base in bases).most_common()
    within = (parent for parent, _ in parents if not parent.endswith("/"))  # not around the bucket of s3a://BUCKET
    free = (each for each in within if not any(_nested(f"{each}/{name}", base) for base in bases))
    return next(free, "/data")


def _nested(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


_DATES = {
    Unit.MINUTES: "${YEAR}/${MONTH}/${DAY}/${HOUR}/${MINUTE}",
    Unit.HOURS: "${YEAR}/${MONTH}/${DAY}/${HOUR}",
    Unit.DAYS: "${YEAR}/${MONTH}/${DAY}",
    Unit.MONTHS: "${YEAR}/${MONTH}",
}

_CLUSTER = """\
# Where data is. `feedctl schema cluster` lists every property, `feedctl lint` checks them.
kind: cluster
name: {name}
description: say where it is, and what for
interfaces:
  # What paths of feeds begin with: hdfs://, webhdfs://, s3a://BUCKET, or file:/// for a folder of this machine.
  write: {{endpoint: "hdfs://namenode.{host}.example.com:8020"}}
"""

_FEED = """\
# A data set. `feedctl schema feed` lists every property, `feedctl lint` checks them.
kind: feed
name: {name}
description: say what it is, and for whom
external: true # no process of this repo makes it; drop the line when one does
frequency: {frequency} # one instance every so often: minutes(n), hours(n), days(n) or months(n)
timezone: {timezone} # days and months begin at midnight in this zone
path_timezone: {timezone} # the dates in paths are those of this zone
locations:
  data: {path}
clusters:
  - name: {cluster}
    validity: {{start: {start}, end: 2099-01-01T00:00Z}} # instances from the start on, none at the end or after it
    # Without a retention nothing is deleted. This one removes what is older than a year, but never the newest 7:
    # retention: {{limit: months(12), keep_last: 7}}
"""

_PROCESS = """\
# A job. `feedctl schema process` lists every property, `feedctl lint` checks them.
kind: process
name: {name}
description: say what it makes, and for whom
frequency: {frequency} # one instance every so often: minutes(n), hours(n), days(n) or months(n)
timezone: {timezone} # days and months begin at midnight in this zone
clusters:
  - name: {cluster}
    validity: {{start: {start}, end: 2099-01-01T00:00Z}} # instances from the start on, none at the end or after it
# What a run waits for and reads, and what it makes; each has a name of its own in the workflow.
# inputs:
#   in: {{feed: {feed}, start: "now(0,0)", end: "now(0,0)"}}
# outputs:
#   out: {{feed: FEED, instance: "now(0,0)"}}
workflow: {{engine: command, path: {script}}}
"""

_SCRIPT = """\
#!/bin/sh
echo "{name} does nothing yet" >&2
exit 1
"""
