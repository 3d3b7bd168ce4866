"""Updates of a run: which outputs and outlets of its process the steps have updated, as they report it (AIP-48)."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.availability import DATA_ERRORS
from toolkit.el import ElError, format_instant
from toolkit.el.dataset_uri import DatasetUri, feed_uri, parse
from toolkit.entities.nearest import suggestion
from toolkit.entities.trigger_vocabulary import Emit
from toolkit.ledger.batches.updates import JobUpdates, OutletUpdate
from toolkit.planning.dataset_aliases import AmbiguousAlias
from toolkit.printable import on_one_line
from toolkit.process_runner.output_digest import output_digest
from toolkit.process_runner.outputs import feed_instance
from toolkit.process_runner.targets import PREPARE
from toolkit.programs.port import NOTHING_CHANGED, OUTLETS, StepEnd

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.planning.dataset_aliases import DatasetAliases
    from toolkit.planning.process_io import PlannedOutput
    from toolkit.process_runner.targets import ProcessPlan

MOST_BYTES = 1 << 20
"""Longest file of outlets."""
_NAMED = 5
"""Most unknown names that a message has."""
UNCHANGED_NOTE = "the steps changed nothing (exit code 99): no update is announced"


def outlets_file(log: Path) -> Path:
    """Return the file of outlets of an attempt at a step; it is beside the log, which no two attempts share."""
    return log.with_name(f"{log.name}.outlets")


@dataclass(kw_only=True)
class RunUpdates:
    """Updates of one run of an instance.

    A step that ended with exit code 99 has changed nothing. If each step changed nothing or listed outlets, those that
    any step listed are updated; else all are. What the steps report is not heeded after an earlier attempt that began
    a step, since nothing is known of what that one updated: everything counts then.

    Attributes:
        plan: of the instance.
        aliases: physical URIs of feeds; None: the process has no outlets.
        mirrored: canonical URIs of what its mirror updates.
        unchanged: names of the steps that changed nothing.
        listed: what the steps have listed, by the name of the step.
        ran: names of the steps that succeeded.
    """

    plan: ProcessPlan
    aliases: DatasetAliases | None = None
    mirrored: Sequence[str] = ()
    unchanged: set[str] = field(default_factory=set)
    listed: dict[str, frozenset[str]] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)

    def ended(self, step: str, log: Path, end: StepEnd) -> StepEnd:
        """Take the report of a step that ended, and return its end: a report that cannot be understood fails it.

        Args:
            step: its name.
            log: of the attempt.
            end: as its engine says.
        """
        if not end.succeeded:
            return end
        try:
            text = _head(outlets_file(log))
        except FileNotFoundError:
            text = None
        except OSError as error:
            return replace(end, message=f"its file of outlets ({OUTLETS}) cannot be read: {error}", may_retry=False)
        listed: frozenset[str] | None = None
        if text is not None:
            lines = text.decode("utf-8", "replace").splitlines()
            names = dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#"))
            unknown = list(self._unknown(names))
            more = [f"and {len(unknown) - _NAMED} more"] if len(unknown) > _NAMED else []
            problems = [*unknown[:_NAMED], *more, *(["it is longer than 1 MiB"] if len(text) > MOST_BYTES else [])]
            if problems:
                return replace(
                    end, message=f"in its file of outlets ({OUTLETS}): {'; '.join(problems)}", may_retry=False
                )
            listed = frozenset(self._known[_canonical(name)] for name in names)
        self.ran.add(step)
        if end.exit_code == NOTHING_CHANGED:
            self.unchanged.add(step)
        if listed is not None:
            self.listed[step] = listed
        return end

    def _unknown(self, names: Collection[str]) -> Iterator[str]:
        for name in names:
            if _canonical(name) not in self._known:
                hint = suggestion(name, self._own) or "the process has neither outputs nor outlets"
                yield f"{on_one_line(name)!r} is no output or outlet of {self.plan.target.entity}; {hint}"

    @property
    def _own(self) -> Sequence[str]:
        process = self.plan.target.site.process
        return (*process.outputs, *process.outlets)

    @property
    def _known(self) -> Mapping[str, str]:
        """The names of outputs, and the canonical URIs of outlets, by all that a step may write for them."""
        site = self.plan.target.site
        outputs = {name: name for name in site.process.outputs}
        datasets = {feed_uri(each.feed, site.cluster.name): name for name, each in site.process.outputs.items()}
        outlets = {each.text: each.text for each in map(parse, site.process.outlets)}
        return {**datasets, **outlets, **outputs}

    @property
    def is_complete(self) -> bool:
        """True if each step has said what it updated."""
        return bool(self.ran) and self.unchanged | self.listed.keys() == self.ran

    @property
    def _is_heeded(self) -> bool:
        detail = self.plan.detail
        return self.is_complete and not (detail.resumed or detail.may_hide)

    @property
    def is_nothing(self) -> bool:
        """True if the steps have updated neither an output nor an outlet."""
        return self._is_heeded and not self._removed and not any(self.listed.values())

    @property
    def _removed(self) -> frozenset[str]:
        """The outputs that are removed before the first step: they have changed, whatever the steps report."""
        return frozenset(each.name for each in self.plan.items if each.kind == PREPARE)

    def counts(self, name: str) -> bool:
        """Return whether an output, by its name, or an outlet, by its canonical URI, was updated."""
        return not self._is_heeded or name in self._removed or any(name in each for each in self.listed.values())

    def updated(self, outputs: Sequence[PlannedOutput]) -> list[PlannedOutput]:
        """Return the outputs that were updated."""
        return [each for each in outputs if self.counts(each.name)]

    def of_job(self, instances: Sequence[FeedInstance], data: DataAccess | None) -> JobUpdates:
        """Return the updates of the job, for the transaction that records its success.

        Args:
            instances: its outputs that are there.
            data: where they are looked at; None: they are not, so that each counts as changed.

        Raises:
            Stopped: the run must not go on.
        """
        target, resolved = self.plan.target, self.plan.detail.resolved
        if target.is_silent or self.is_nothing:
            return JobUpdates(is_silent=True, read=self._read())
        outputs = () if resolved is None else resolved.outputs
        by_place = {(each.storage.feed, each.instance.instant): each for each in outputs}
        planned = {
            each: output
            for each in instances
            for (feed, instant), output in by_place.items()
            if feed == each.feed and each.instance_key == format_instant(instant)
        }
        is_compared = target.site.process.emit is Emit.ON_CHANGE
        return JobUpdates(
            outlets=tuple(self._outlets()),
            unchanged=frozenset(each for each, output in planned.items() if not self.counts(output.name)),
            digests=dict(self._digests(instances, data)) if data is not None and is_compared else {},
            partitions={
                each: output.instance.partition for each, output in planned.items() if output.instance.partition
            },
            read=self._read(),
        )

    def _read(self) -> list[tuple[str, FeedInstance]]:
        """Return the instances of each input by its name; one that was left out as incomplete is not among them."""
        site, resolved = self.plan.target.site, self.plan.detail.resolved
        inputs = () if resolved is None else resolved.inputs
        return [
            (each.name, feed_instance(site, each.storage, instance)) for each in inputs for instance in each.instances
        ]

    def _digests(self, instances: Sequence[FeedInstance], data: DataAccess) -> Iterator[tuple[FeedInstance, str]]:
        """Yield the digest of each output that can be read; of another, nothing says that it is unchanged."""
        for each in instances:
            with suppress(*DATA_ERRORS, ElError):
                yield each, output_digest(data, self.plan.target.site.cluster, each.uri or "")

    def _outlets(self) -> Iterator[OutletUpdate]:
        site = self.plan.target.site
        for uri in dict.fromkeys(map(parse, (*site.process.outlets, *self.mirrored))):
            if self.counts(uri.text):
                yield self._outlet(self._resolved(uri))

    def _resolved(self, uri: DatasetUri) -> DatasetUri:
        with suppress(AmbiguousAlias):  # then it stands for none of the feeds
            return uri if self.aliases is None else self.aliases.resolve(uri)
        return uri

    def _outlet(self, dataset: DatasetUri) -> OutletUpdate:
        """Return the update of a dataset; of a feed it names the instance of the same time, if there is one."""
        target = self.plan.target
        if dataset.feed is None or dataset.cluster is None:
            return OutletUpdate(dataset=dataset.text, instance_key=target.instance_key)
        feed = target.site.feeds.get(dataset.feed)
        has_cluster = feed is not None and any(each.name == dataset.cluster for each in feed.clusters)
        is_instance = feed is not None and has_cluster and target.nominal_time in feed.instances_on(dataset.cluster)
        key = target.instance_key if is_instance else ""
        return OutletUpdate(dataset=dataset.text, instance_key=key, feed=dataset.feed, cluster=dataset.cluster)


def _head(file: Path) -> bytes:
    """Return the start of a file that a step wrote, a byte more than it may have; a pipe would hang the run.

    Raises:
        OSError: it is no regular file, or cannot be read.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            message = "it is no regular file"
            raise OSError(message)
        return opened.read(MOST_BYTES + 1)


def _canonical(name: str) -> str:
    with suppress(ElError):
        return parse(name).text
    return name
