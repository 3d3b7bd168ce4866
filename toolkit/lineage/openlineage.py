"""Events of OpenLineage about runs, jobs and datasets (`openlineage-python`, the extra `lineage`).

Instances of a feed are one dataset; which of them a run read or wrote is in the facet `feedctl_instances`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

import attr
from openlineage.client import event_v2 as events
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    data_quality_assertions_dataset,
    error_message_run,
    job_type_job,
    nominal_time_run,
    ownership_dataset,
    ownership_job,
    parent_run,
    schema_dataset,
    source_code_location_job,
)
from openlineage.client.generated.base import DatasetFacet, JobFacet
from openlineage.client.generated.execution_parameters_run import ExecutionParameter, ExecutionParametersRunFacet
from openlineage.client.serde import Serde

from toolkit import __version__
from toolkit.el import ElError, parse_instant
from toolkit.entities.errors import UnknownName
from toolkit.ledger.lineage_reports import NO_REPORT
from toolkit.ledger.vocabulary import LifeCycle, LineageRelationKind
from toolkit.lineage.dataset_names import DatasetName, feed_dataset, path_dataset, table_dataset, topic_dataset

if TYPE_CHECKING:
    from toolkit.entities import Feed, Repository
    from toolkit.ledger.lineage import InstanceEdge
    from toolkit.ledger.lineage_reports import ReportedColumn, RunReport
    from toolkit.ledger.runs.rows import RunKey
    from toolkit.lineage.graph import LineageGraph
    from toolkit.runs.recorder import RecordedRun

Event = Mapping[str, Any]
"""Event as JSON."""

_Pair = tuple[str, str]
"""A feed and a cluster."""
_MOST_INSTANCES, _MOST_ASSERTIONS, _LONGEST_MESSAGE = 1_000, 1_000, 4_000
_COPIES = frozenset({LifeCycle.REPLICATION, LifeCycle.IMPORT, LifeCycle.EXPORT})
_TRANSFORMATIONS = {
    LineageRelationKind.DIRECT: ("DIRECT", "TRANSFORMATION"),
    LineageRelationKind.AGGREGATE: ("DIRECT", "AGGREGATION"),
    LineageRelationKind.CONDITION: ("INDIRECT", "FILTER"),
}

events.set_producer(f"urn:feedctl:{__version__}")


@attr.define
class InstancesFacet(DatasetFacet):
    """Instances of a feed that a run read or wrote; `instances` has the first of them."""

    feed: str
    cluster: str
    count: int
    instances: list[dict[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class EventFactory:
    """Makes events about the entities of a config repo.

    Attributes:
        repository: the entities.
        commit: of the config repo in git; None: it is not in git, or was changed since.
        action: whose runs these are.
        call: UUID of this call of the action, the parent of its runs.
        ledger: identity of the ledger that numbers the runs; None: there is none.
    """

    repository: Repository
    commit: str | None = None
    action: str = ""
    call: str = ""
    ledger: str | None = None

    def run_event(
        self, state: str, run: RecordedRun, at: datetime, report: RunReport = NO_REPORT, reason: str = ""
    ) -> Event:
        """Return an event about a run.

        Args:
            state: START, RUNNING, COMPLETE, FAIL or ABORT.
            run: what it is about.
            at: when that happened.
            report: what the ledger knows of it.
            reason: why it ended so; empty: it simply succeeded.
        """
        sources, targets = self._flow(run.key)
        reads = self._datasets(sources, report.reads)
        writes = self._datasets(targets, report.writes, report)
        event = events.RunEvent(
            eventTime=_text(at),
            run=events.Run(self._uuid(run), facets=dict(self._run_facets(run, reason))),
            job=self._job(run.key.entity, run.key.life_cycle),
            eventType=events.RunState(state),
            inputs=[*_inputs(reads), *(events.InputDataset(*each) for each in self._outside(run.key))],
            outputs=_outputs(writes),
        )
        return Serde.to_dict(event)

    def action_event(self, state: str, at: datetime) -> Event:
        """Return an event about this call of the action."""
        job = events.Job(self._namespace, f"feedctl.{self.action}", facets={"jobType": _job_type(self.action)})
        run = events.Run(self.call)
        return Serde.to_dict(events.RunEvent(eventTime=_text(at), run=run, job=job, eventType=events.RunState(state)))

    def dataset_events(self, pairs: Iterable[_Pair], at: datetime, report: RunReport = NO_REPORT) -> Iterator[Event]:
        """Yield an event about the data of each feed and cluster, with the instances that a run wrote."""
        for name, facets in self._datasets(pairs, report.writes).items():
            dataset = events.StaticDataset(*name, facets=facets)
            yield Serde.to_dict(events.DatasetEvent(eventTime=_text(at), dataset=dataset))

    def job_event(self, process: str, at: datetime) -> Event:
        """Return an event about a process without any of its runs."""
        found = self.repository.processes[process]
        on = [each.name for each in found.clusters]
        reads = self._datasets((each.feed, cluster) for each in found.inputs.values() for cluster in on)
        writes = self._datasets((each.feed, cluster) for each in found.outputs.values() for cluster in on)
        job = self._job(process, LifeCycle.EXECUTION)
        event = events.JobEvent(eventTime=_text(at), job=job, inputs=_inputs(reads), outputs=_outputs(writes))
        return Serde.to_dict(event)

    def _uuid(self, run: RecordedRun) -> str:
        """Return the same UUID for all events of a run, whichever process writes them."""
        of_run = self.call if self.ledger is None else f"{self.ledger}/{run.run_id}"
        return str(uuid5(NAMESPACE_URL, f"urn:feedctl:run/{of_run}/{run.key!a}"))

    @property
    def _namespace(self) -> str:
        settings = self.repository.settings
        return settings.lineage.openlineage.namespace or settings.name or "feedctl"

    def _flow(self, key: RunKey) -> tuple[Sequence[_Pair], Sequence[_Pair]]:
        """Return what a run of this key reads and writes by the config repo."""
        process = self.repository.processes.get(key.entity)
        if key.life_cycle is LifeCycle.EXECUTION and process is not None:
            reads = [(each.feed, key.cluster) for each in process.inputs.values()]
            return reads, [(each.feed, key.cluster) for each in process.outputs.values()]
        if key.life_cycle in _COPIES and key.counterpart:
            return [(key.entity, key.counterpart)], [(key.entity, key.cluster)]
        return [], [(key.entity, key.cluster)] if key.life_cycle is LifeCycle.INGEST else []

    def _outside(self, key: RunKey) -> Iterator[DatasetName]:
        """Yield the source of an ingest: a topic, or a directory."""
        feed = self.repository.feeds.get(key.entity)
        settings = None if feed is None else feed.find_cluster(key.cluster)
        if key.life_cycle is not LifeCycle.INGEST or settings is None or settings.ingest is None:
            return
        if (topic := settings.ingest.topic) is not None:
            yield topic_dataset(topic.kafka, topic.bootstrap)
        elif (files := settings.ingest.files) is not None:
            yield path_dataset(self.repository.clusters[key.cluster].place(files.directory))

    def _datasets(
        self, pairs: Iterable[_Pair], instances: Iterable[InstanceEdge] = (), report: RunReport = NO_REPORT
    ) -> dict[DatasetName, dict[str, Any]]:
        """Return the facets of the datasets of the pairs, and of those of the instances."""
        by_pair: dict[_Pair, list[InstanceEdge]] = {each: [] for each in pairs}
        for each in instances:
            by_pair.setdefault((each.feed, each.cluster), []).append(each)
        found: dict[DatasetName, dict[str, Any]] = {}
        for pair, of_pair in sorted(by_pair.items()):
            name, feed = self._name_of(pair), self.repository.feeds.get(pair[0])
            if name is None or feed is None:
                continue
            facets = dict(_dataset_facets(feed, pair[1], of_pair))
            if pair in report.findings:
                facets["dataQualityAssertions"] = _assertions(report, pair)
            columns = [each for each in report.columns if each.target_table in {feed.name, name.name}]
            if columns:
                facets["columnLineage"] = self._column_lineage(columns, pair[1])
            found.setdefault(name, {}).update(facets)
        return found

    def _name_of(self, pair: _Pair) -> DatasetName | None:
        feed, cluster = self.repository.feeds.get(pair[0]), self.repository.clusters.get(pair[1])
        try:
            return None if feed is None or cluster is None else feed_dataset(feed, cluster)
        except (ElError, UnknownName):
            return None

    def _column_lineage(self, columns: Sequence[ReportedColumn], cluster: str) -> DatasetFacet:
        of_column: dict[str, list[column_lineage_dataset.InputField]] = defaultdict(list)
        for each in columns:
            name = self._name_of((each.source_table, cluster))
            name = name or table_dataset(each.source_table, self.repository.clusters[cluster])
            kind, subtype = _TRANSFORMATIONS[each.kind]
            how = column_lineage_dataset.Transformation(type=kind, subtype=subtype)
            of_column[each.target].append(column_lineage_dataset.InputField(*name, each.source, transformations=[how]))
        of_rows = of_column.pop("", [])
        fields = {name: column_lineage_dataset.Fields(inputFields=each) for name, each in of_column.items()}
        return column_lineage_dataset.ColumnLineageDatasetFacet(fields=fields, dataset=of_rows)

    def _job(self, entity: str, life_cycle: LifeCycle) -> events.Job:
        """Return the job of an entity; what is done with a feed is a job each, since each has datasets of its own."""
        facets: dict[str, JobFacet] = {"jobType": _job_type(life_cycle)}
        entry = self.repository.entries.get(entity)
        owner = None if entry is None or entry.entity is None else entry.entity.owner
        if owner:
            facets["ownership"] = ownership_job.OwnershipJobFacet([ownership_job.Owner(owner)])
        if self.commit is not None and entry is not None:
            facets["sourceCodeLocation"] = source_code_location_job.SourceCodeLocationJobFacet(
                type="git", url=f"urn:git:{self.commit}", path=entry.file, version=self.commit
            )
        name = entity if life_cycle is LifeCycle.EXECUTION else f"{entity}.{life_cycle}"
        return events.Job(self._namespace, name, facets=facets)

    def _run_facets(self, run: RecordedRun, reason: str) -> Iterator[tuple[str, Any]]:
        call = parent_run.Job(self._namespace, f"feedctl.{self.action}")
        yield "parent", parent_run.ParentRunFacet(run=parent_run.Run(self.call), job=call)
        values = {"cluster": run.key.cluster, "counterpart": run.key.counterpart, "instance_key": run.key.instance_key}
        values |= {"attempt": str(run.attempt or ""), "run_id": str(run.run_id or "")}
        parameters = [ExecutionParameter(key=name, value=value) for name, value in values.items() if value]
        yield "executionParameters", ExecutionParametersRunFacet(parameters)
        period = self._period(run.key)
        if period:
            yield "nominalTime", nominal_time_run.NominalTimeRunFacet(*map(_text, period))
        if reason:
            message = reason[:_LONGEST_MESSAGE]
            yield "errorMessage", error_message_run.ErrorMessageRunFacet(message, programmingLanguage="PYTHON")

    def _period(self, key: RunKey) -> Sequence[datetime]:
        """Return the nominal time of a run, and that of the next one if there is one; nothing if it has none."""
        try:
            start = parse_instant(key.instance_key)
        except ElError:
            return ()
        entity = self.repository.processes.get(key.entity) or self.repository.feeds.get(key.entity)
        try:
            if entity is not None:
                sequence = entity.cluster(key.cluster).validity.sequence(entity.frequency, entity.timezone)
                return start, sequence[sequence.index(start) + 1]
        except (UnknownName, ElError, IndexError):  # the last one, or one that triggers started
            pass
        return (start,)


def static_events(graph: LineageGraph, repository: Repository, at: datetime) -> list[Event]:
    """Return events about the processes and feeds that the vertices of a graph mean, without any run.

    Args:
        graph: of entities, or of instances and runs.
        repository: the entities.
        at: the time of the events.
    """
    factory, names = EventFactory(repository=repository), {each.name for each in graph.vertices.values()}
    jobs = [factory.job_event(name, at) for name in sorted(names & repository.processes.keys())]
    feeds = [repository.feeds[name] for name in sorted(names & repository.feeds.keys())]
    pairs = [(feed.name, cluster.name) for feed in feeds for cluster in feed.clusters]
    return [*jobs, *factory.dataset_events(pairs, at)]


def _inputs(found: Mapping[DatasetName, dict[str, Any]]) -> list[events.InputDataset]:
    return [events.InputDataset(*name, facets=facets) for name, facets in found.items()]


def _outputs(found: Mapping[DatasetName, dict[str, Any]]) -> list[events.OutputDataset]:
    return [events.OutputDataset(*name, facets=facets) for name, facets in found.items()]


def _dataset_facets(feed: Feed, cluster: str, instances: Sequence[InstanceEdge]) -> Iterator[tuple[str, Any]]:
    if feed.owner:
        yield "ownership", ownership_dataset.OwnershipDatasetFacet([ownership_dataset.Owner(feed.owner)])
    settings = feed.find_cluster(cluster)
    if settings is not None and settings.ingest is not None:
        columns = [schema_dataset.SchemaDatasetFacetFields(each.name, each.type) for each in settings.ingest.columns]
        yield "schema", schema_dataset.SchemaDatasetFacet(columns)
    if instances:
        kept = [
            {"instanceKey": each.instance_key, "uri": each.uri or "", "fingerprint": each.fingerprint or ""}
            for each in instances[:_MOST_INSTANCES]
        ]
        yield "feedctl_instances", InstancesFacet(feed.name, cluster, len(instances), kept)


def _assertions(report: RunReport, pair: _Pair) -> data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet:
    found = [
        data_quality_assertions_dataset.Assertion(
            assertion=each.type, success=each.success, column=each.column_name or None, severity=each.severity
        )
        for each in report.findings[pair][:_MOST_ASSERTIONS]
    ]
    return data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(found)


def _job_type(of: str) -> JobFacet:
    return job_type_job.JobTypeJobFacet(processingType="BATCH", integration="FEEDCTL", jobType=of.upper())


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
