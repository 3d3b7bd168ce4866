"""Events of OpenLineage about runs, jobs and datasets (`openlineage-python`, the extra `lineage`).

Instances of a feed are one dataset; which of them a run read or wrote is in the facet `feedctl_instances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from openlineage.client import event_v2 as events
from openlineage.client import facet_v2 as facets
from openlineage.client.generated import base, execution_parameters_run
from openlineage.client.serde import Serde

from toolkit import __version__
from toolkit.el import ElError, parse_instant
from toolkit.entities.errors import UnknownName
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.lineage.dataset_names import DatasetName, feed_dataset, path_dataset, topic_dataset
from toolkit.lineage.graph import VertexKind

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.entities.feed import Feed
    from toolkit.ledger.lineage_reports import ReportedInstance, RunReport
    from toolkit.ledger.runs.rows import RunKey
    from toolkit.ledger.validations import StoredFinding
    from toolkit.lineage.graph import LineageGraph

Event = Mapping[str, Any]
"""Event as JSON."""

PRODUCER = f"urn:feedctl:{__version__}"
_LANGUAGE = "PYTHON"
_MOST_INSTANCES, _MOST_ASSERTIONS, _LONGEST_MESSAGE = 1_000, 1_000, 4_000
_COPIES = frozenset({LifeCycle.REPLICATION, LifeCycle.IMPORT, LifeCycle.EXPORT})
_ENTITY_OF = {
    VertexKind.FEED: "name",
    VertexKind.PROCESS: "name",
    VertexKind.INSTANCE: "feed",
    VertexKind.RUN: "process",
}
"""The fact of a vertex that names the entity, or its name."""

events.set_producer(PRODUCER)


class ReportedRun(NamedTuple):
    """Run as events name it.

    Attributes:
        key: what is run.
        uuid: the same for all events of the run.
        parent: UUID of the call of the action that started it.
        action: name of the action.
        run_id: in the ledger; None: it is not recorded there.
        attempt: from 1 within the key; None: it is not recorded.
        reason: why it ended so; empty: it simply succeeded.
    """

    key: RunKey
    uuid: str
    parent: str
    action: str
    run_id: int | None = None
    attempt: int | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class EventFactory:
    """Makes events about the entities of a config repo.

    Attributes:
        repository: the entities.
        commit: of the config repo in git; None: it is not in git, or was changed since.
    """

    repository: Repository
    commit: str | None = None

    @property
    def namespace(self) -> str:
        """Namespace of the jobs."""
        settings = self.repository.settings
        return settings.lineage.openlineage.namespace or settings.name or "feedctl"

    def run_event(self, state: str, run: ReportedRun, at: datetime, report: RunReport) -> Event:
        """Return an event about a run.

        Args:
            state: START, RUNNING, COMPLETE, FAIL or ABORT.
            run: what it is about.
            at: when that happened.
            report: what the ledger knows of it.
        """
        sources, targets = self._flow(run.key)
        job = self._job(run.key.entity, run.key.life_cycle)
        inputs = [
            events.InputDataset(*name, facets=each) for name, each in self._datasets(sources, report.reads, {}).items()
        ]
        outputs = [
            events.OutputDataset(*name, facets=each)
            for name, each in self._datasets(targets, report.writes, report.findings).items()
        ]
        event = events.RunEvent(
            eventTime=_text(at),
            run=events.Run(run.uuid, facets=dict(self._run_facets(run))),
            job=job,
            eventType=events.RunState(state),
            inputs=[*inputs, *(events.InputDataset(*name) for name in self._outside(run.key))],
            outputs=outputs,
        )
        return Serde.to_dict(event)

    def action_event(self, state: str, action: str, uuid: str, at: datetime) -> Event:
        """Return an event about a call of an action, which is the parent of its runs."""
        job = events.Job(self.namespace, _action_job(action), facets={"jobType": _job_type(action)})
        event = events.RunEvent(eventTime=_text(at), run=events.Run(uuid), job=job, eventType=events.RunState(state))
        return Serde.to_dict(event)

    def dataset_events(
        self, feed: str, at: datetime, instances: Iterable[ReportedInstance] = (), clusters: Iterable[str] | None = None
    ) -> Iterator[Event]:
        """Yield an event about the data of a feed on each of its clusters, or on some."""
        found = self.repository.feeds[feed]
        on = {(feed, name) for name in (clusters or [each.name for each in found.clusters])}
        for name, each in self._datasets(on, instances, {}).items():
            event = events.DatasetEvent(eventTime=_text(at), dataset=events.StaticDataset(*name, facets=each))
            yield Serde.to_dict(event)

    def job_event(self, process: str, at: datetime) -> Event:
        """Return an event about a process without any of its runs."""
        found = self.repository.processes[process]
        on = [each.name for each in found.clusters]
        reads = {(each.feed, cluster) for each in found.inputs.values() for cluster in on}
        writes = {(each.feed, cluster) for each in found.outputs.values() for cluster in on}
        event = events.JobEvent(
            eventTime=_text(at),
            job=self._job(process, LifeCycle.EXECUTION),
            inputs=[events.InputDataset(*name, facets=each) for name, each in self._datasets(reads, (), {}).items()],
            outputs=[events.OutputDataset(*name, facets=each) for name, each in self._datasets(writes, (), {}).items()],
        )
        return Serde.to_dict(event)

    def _flow(self, key: RunKey) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """Return the feeds, each with its cluster, that a run of this key reads and writes by the config repo."""
        process = self.repository.processes.get(key.entity)
        if key.life_cycle is LifeCycle.EXECUTION and process is not None:
            sources = {(each.feed, key.cluster) for each in process.inputs.values()}
            return sources, {(each.feed, key.cluster) for each in process.outputs.values()}
        if key.life_cycle in _COPIES and key.counterpart:
            return {(key.entity, key.counterpart)}, {(key.entity, key.cluster)}
        return set(), {(key.entity, key.cluster)} if key.life_cycle is LifeCycle.INGEST else set()

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
        self,
        pairs: Iterable[tuple[str, str]],
        instances: Iterable[ReportedInstance],
        findings: Mapping[tuple[str, str], Sequence[StoredFinding]],
    ) -> dict[DatasetName, dict[str, Any]]:
        """Return the facets of each dataset: of the pairs of feed and cluster, and of those of the instances."""
        by_pair: dict[tuple[str, str], list[ReportedInstance]] = {each: [] for each in pairs}
        for each in instances:
            by_pair.setdefault((each.feed, each.cluster), []).append(each)
        found: dict[DatasetName, dict[str, Any]] = {}
        for (name, where), of_pair in sorted(by_pair.items()):
            feed, cluster = self.repository.feeds.get(name), self.repository.clusters.get(where)
            if feed is None or cluster is None:
                continue
            try:
                dataset = feed_dataset(feed, cluster)
            except (ElError, UnknownName):
                continue
            found.setdefault(dataset, {}).update(_dataset_facets(feed, where, of_pair, findings.get((name, where), ())))
        return found

    def _job(self, entity: str, life_cycle: LifeCycle) -> events.Job:
        """Return the job of an entity; what is done with a feed is a job each, since each has datasets of its own."""
        found: dict[str, base.JobFacet] = {"jobType": _job_type(life_cycle)}
        entry = self.repository.entries.get(entity)
        owner = None if entry is None or entry.entity is None else entry.entity.owner
        if owner:
            found["ownership"] = facets.ownership_job.OwnershipJobFacet([facets.ownership_job.Owner(owner)])
        if self.commit is not None and entry is not None:
            found["sourceCodeLocation"] = facets.source_code_location_job.SourceCodeLocationJobFacet(
                type="git", url=f"urn:git:{self.commit}", path=entry.file, version=self.commit
            )
        name = entity if life_cycle is LifeCycle.EXECUTION else f"{entity}.{life_cycle}"
        return events.Job(self.namespace, name, facets=found)

    def _run_facets(self, run: ReportedRun) -> Iterator[tuple[str, base.RunFacet]]:
        parent = facets.parent_run
        yield (
            "parent",
            parent.ParentRunFacet(run=parent.Run(run.parent), job=parent.Job(self.namespace, _action_job(run.action))),
        )
        values = {"cluster": run.key.cluster, "counterpart": run.key.counterpart, "instance_key": run.key.instance_key}
        numbers = {"attempt": run.attempt, "run_id": run.run_id}
        values |= {name: str(number) for name, number in numbers.items() if number is not None}
        parameters = [
            execution_parameters_run.ExecutionParameter(key=name, value=value)
            for name, value in values.items()
            if value
        ]
        yield "executionParameters", execution_parameters_run.ExecutionParametersRunFacet(parameters)
        period = self._period(run.key)
        if period is not None:
            yield "nominalTime", facets.nominal_time_run.NominalTimeRunFacet(*map(_text, period))
        if run.reason:
            message = run.reason[:_LONGEST_MESSAGE]
            yield "errorMessage", facets.error_message_run.ErrorMessageRunFacet(message, programmingLanguage=_LANGUAGE)

    def _period(self, key: RunKey) -> tuple[datetime, ...] | None:
        """Return the nominal time of a run, and that of the next one if there is one."""
        try:
            start = parse_instant(key.instance_key)
        except ElError:
            return None
        entity = self.repository.processes.get(key.entity) or self.repository.feeds.get(key.entity)
        try:
            if entity is not None:
                sequence = entity.cluster(key.cluster).validity.sequence(entity.frequency, entity.timezone)
                return start, sequence[sequence.index(start) + 1]
        except (UnknownName, ElError, IndexError):  # the last one, or one that triggers started
            pass
        return (start,)


def static_events(graph: LineageGraph, repository: Repository, at: datetime) -> list[Event]:
    """Return events about the processes and feeds of a graph, without any run: JobEvent and DatasetEvent.

    Args:
        graph: of entities, or of instances and runs, whose entities it means.
        repository: the entities.
        at: the time of the events.
    """
    factory = EventFactory(repository=repository)
    names = {each.facts.get(fact, each.name) for each in graph.vertices.values() if (fact := _ENTITY_OF.get(each.kind))}
    jobs = [factory.job_event(name, at) for name in sorted(names & repository.processes.keys())]
    return [
        *jobs,
        *(each for name in sorted(names & repository.feeds.keys()) for each in factory.dataset_events(name, at)),
    ]


def _dataset_facets(
    feed: Feed, cluster: str, instances: Sequence[ReportedInstance], findings: Sequence[StoredFinding]
) -> Iterator[tuple[str, Any]]:
    if feed.owner:
        owner = facets.ownership_dataset.Owner(feed.owner)
        yield "ownership", facets.ownership_dataset.OwnershipDatasetFacet([owner])
    ingest = feed.cluster(cluster).ingest
    if ingest is not None:
        fields = [facets.schema_dataset.SchemaDatasetFacetFields(each.name, each.type) for each in ingest.columns]
        yield "schema", facets.schema_dataset.SchemaDatasetFacet(fields)
    if instances:
        kept = [
            {"instanceKey": each.instance_key, "uri": each.uri or "", "fingerprint": each.fingerprint or ""}
            for each in instances[:_MOST_INSTANCES]
        ]
        facet = base.DatasetFacet()
        yield (
            "feedctl_instances",
            facet.with_additional_properties(feed=feed.name, cluster=cluster, count=len(instances), instances=kept),
        )
    if findings:
        assertions = [
            facets.data_quality_assertions_dataset.Assertion(
                assertion=each.type, success=each.success, column=each.column_name or None, severity=each.severity
            )
            for each in findings[:_MOST_ASSERTIONS]
        ]
        quality = facets.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(assertions)
        yield "dataQualityAssertions", quality


def _action_job(action: str) -> str:
    return f"feedctl.{action}"


def _job_type(of: str) -> base.JobFacet:
    return facets.job_type_job.JobTypeJobFacet(processingType="BATCH", integration="FEEDCTL", jobType=of.upper())


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
