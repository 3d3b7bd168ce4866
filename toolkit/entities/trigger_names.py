"""Meaning of the plain texts of triggers: the name of an input, else of a feed, else of a group, else a URI."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from toolkit.el import ElError, dataset_uri
from toolkit.entities.feed import Feed
from toolkit.entities.process import Process
from toolkit.entities.trigger import Dataset, TriggerCondition, TriggerEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerNames:
    """Names of a config repo that the plain text of a trigger may mean.

    Attributes:
        feeds: names of all feeds.
        groups: names of all groups of feeds.
        datasets: canonical URIs of the datasets of `repo.yaml` and of outlets; a plain name has to be one of them.
    """

    feeds: Collection[str]
    groups: Collection[str]
    datasets: Collection[str]

    @classmethod
    def of(cls, feeds: Mapping[str, Feed], datasets: Iterable[Dataset], processes: Iterable[Process]) -> "TriggerNames":
        """Return the names of a config repo's usable entities and of its `datasets:`."""
        uris = (*(each.uri for each in datasets), *(uri for each in processes for uri in each.outlets))
        groups = {group for feed in feeds.values() for group in feed.groups}
        return cls(feeds=feeds.keys(), groups=groups, datasets={dataset_uri.parse(uri).text for uri in uris})

    def meanings(self, text: str, process: Process) -> tuple[TriggerEntry, ...]:
        """Return what a plain text may mean: none if nothing has that name, several if it is ambiguous.

        An input with the name of its own feed is that input. A text that is a URI by its form (with `:`, `/`, or a
        wildcard) is one, whether or not a process updates it.

        Raises:
            ElError: it is a URI by its form, and no valid one.
        """
        found = [TriggerEntry(input=text)] if text in process.inputs else []
        is_own_feed = bool(found) and process.inputs[text].feed == text
        if text in self.feeds and not is_own_feed:
            found.append(TriggerEntry(feed=text))
        if text in self.groups:
            found.append(TriggerEntry(group=text))
        if not found and self._is_uri(text):
            found.append(TriggerEntry(uri=text))
        return tuple(found)

    def resolved(self, entry: TriggerEntry, process: Process) -> TriggerEntry:
        """Return the entry with its plain text as what it means; one with a key is as it is.

        Args:
            entry: of a loaded config repo, so that it means exactly one thing.
            process: that has the trigger.
        """
        if entry.name is None:
            return entry
        found = self.meanings(entry.name, process) or (TriggerEntry(uri=entry.name),)
        return replace(found[0], partition=entry.partition, min_count=entry.min_count, cluster=entry.cluster)

    def resolved_condition(self, condition: TriggerCondition, process: Process) -> TriggerCondition:
        """Return the condition with `resolved` entries, also in nested conditions."""

        def part(each: TriggerCondition | TriggerEntry) -> TriggerCondition | TriggerEntry:
            if isinstance(each, TriggerEntry):
                return self.resolved(each, process)
            return self.resolved_condition(each, process)

        return TriggerCondition(all=tuple(map(part, condition.all)), any=tuple(map(part, condition.any)))

    def _is_uri(self, text: str) -> bool:
        if dataset_uri.is_glob(text):
            dataset_uri.parse_glob(text)
            return True
        if any(each in text for each in ":/"):
            dataset_uri.parse(text)
            return True
        try:
            return dataset_uri.parse(text).text in self.datasets
        except ElError:
            return False
