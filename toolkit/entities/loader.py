"""Loads a config repo: every file is read, everything that is wrong is reported together."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from toolkit.entities.calendars import known_calendars, load_calendars
from toolkit.entities.checks import Context, cross_findings, reference_findings
from toolkit.entities.cluster import Cluster
from toolkit.entities.datasource import Datasource
from toolkit.entities.entity_loading import EntityEntry, known_entries, load_entries
from toolkit.entities.feed import Feed
from toolkit.entities.overlay_checks import environment_problems, hold_problems
from toolkit.entities.parsing import OnDemand, ParsedFiles, parse_files, parse_on_demand
from toolkit.entities.problems import ConfigError, ConfigProblem
from toolkit.entities.process import Process
from toolkit.entities.repo import RepoSettings
from toolkit.entities.repository import Repository
from toolkit.entities.settings_loading import defaults_problems, load_holds, load_settings
from toolkit.entities.source_files import (
    ConfigFiles,
    calendar_name,
    entity_kind,
    entity_name,
    git_folders,
    misnamed_files,
    settings_files,
    suite_name,
)
from toolkit.entities.structure import Entity
from toolkit.entities.suites import known_suites, load_suites
from toolkit.entities.trigger_names import TriggerNames
from toolkit.entities.validation import placed
from toolkit.entities.vocabulary import Kind

T = TypeVar("T", Cluster, Feed, Process, Datasource)


def load(snapshot: ConfigFiles, environment: str | None = None) -> Repository:
    """The config repo of a snapshot, without any problem.

    Args:
        snapshot: its files.
        environment: whose overlays are used; None: the repo's default environment, if it has one.

    Raises:
        ConfigError: all problems of all files.
        UnknownName: no such environment.
    """
    repository, problems = load_all(snapshot, environment)
    if problems:
        raise ConfigError(problems=problems)
    return repository


def load_all(
    snapshot: ConfigFiles, environment: str | None = None, parsed: ParsedFiles | None = None
) -> tuple[Repository, tuple[ConfigProblem, ...]]:
    """The usable part of the config repo of a snapshot, and all problems, sorted.

    Args:
        snapshot: its files.
        environment: as for `load`.
        parsed: its files as `parse_files` gives them; None: they are read here.

    Raises:
        UnknownName: no such environment.
    """
    parsed = parse_files(snapshot.files) if parsed is None else parsed
    settings = load_settings(parsed, snapshot.files, environment)
    chosen = settings.environment
    overlay = None if chosen is None else settings.layers[chosen.name]
    entries, problems = load_entries(parsed, chosen, overlay)
    holds, hold_file_problems = load_holds(parsed)
    suites, suite_problems = load_suites(parsed)
    calendars, calendar_problems = load_calendars(parsed)
    context = _context(entries, snapshot.files, settings.settings)
    checked, cross_problems = _cross_checked(entries, context)
    usable = [entry.entity for entry in checked if entry.entity is not None]
    found = {
        *_file_problems(snapshot, parsed),
        *settings.problems,
        *problems,
        *hold_file_problems,
        *suite_problems,
        *calendar_problems,
        *hold_problems(parsed, holds, context),
        *environment_problems(parsed, settings.environments, context),
        *cross_problems,
    }
    repository = Repository(
        clusters=_of(usable, Cluster),
        feeds=_of(usable, Feed),
        processes=_of(usable, Process),
        datasources=_of(usable, Datasource),
        settings=settings.settings,
        environment=chosen,
        environments=settings.environments,
        holds=holds,
        entries={entry.name: entry for entry in reversed(checked)},
        suites=suites,
        calendars=calendars,
    )
    return repository, tuple(sorted(found))


def _file_problems(snapshot: ConfigFiles, parsed: ParsedFiles) -> Iterator[ConfigProblem]:
    """Yield the problems of files by themselves, whatever they are about."""
    yield from snapshot.problems
    yield from misnamed_files(snapshot.names)
    yield from git_folders(snapshot)
    yield from parsed.problems
    yield from defaults_problems(parsed)


def load_known(snapshot: ConfigFiles, environment: str | None, documents: Mapping[str, bytes]) -> Repository:
    """The config repo of a snapshot in which `load` found no problem; each entity is made when it is asked for.

    Args:
        snapshot: its files.
        environment: as for `load`.
        documents: what `load` merged each entity file to, as JSON; an empty one is merged again.
    """
    parsed = parse_on_demand(snapshot.files)
    settings = load_settings(parse_files(settings_files(snapshot.files)), snapshot.files, environment)
    chosen = settings.environment
    overlay = None if chosen is None else settings.layers[chosen.name]
    entries, read_document = known_entries(parsed, chosen, overlay, documents)
    return Repository(
        clusters=_known(entries, documents, Cluster),
        feeds=_known(entries, documents, Feed),
        processes=_known(entries, documents, Process),
        datasources=_known(entries, documents, Datasource),
        settings=settings.settings,
        environment=chosen,
        environments=settings.environments,
        holds=load_holds(parsed)[0],
        entries=entries,
        suites=known_suites(parsed),
        calendars=known_calendars(parsed),
        read_document=read_document,
    )


def _known(entries: Mapping[str, EntityEntry], files: Iterable[str], model: type[T]) -> Mapping[str, T]:
    names = [entity_name(file) for file in files if entity_kind(file) is model.KIND]
    return OnDemand(names, lambda name: cast("T", entries[name].entity))


def _of(entities: Iterable[Entity], model: type[T]) -> dict[str, T]:
    return {entity.name: entity for entity in entities if isinstance(entity, model)}


def _context(entries: Iterable[EntityEntry], files: Mapping[str, bytes], settings: RepoSettings) -> Context:
    names: dict[Kind, set[str]] = {kind: set() for kind in Kind}
    for file in files:
        kind = entity_kind(file)
        if kind is not None:
            names[kind].add(entity_name(file))
    entities = [entry.entity for entry in entries if entry.entity is not None]
    suites = {name for name in map(suite_name, files) if name is not None}
    feeds, processes = _of(entities, Feed), _of(entities, Process)
    trigger_names = TriggerNames.of(feeds, settings.datasets, processes.values())
    return Context(
        names=names,
        clusters=_of(entities, Cluster),
        feeds=feeds,
        datasources=_of(entities, Datasource),
        suites=suites,
        groups=trigger_names.groups,
        datasets=trigger_names.datasets,
        calendars={name for name in map(calendar_name, files) if name is not None},
        channels={each.name for each in settings.monitoring.channels},
    )


def _cross_checked(entries: Iterable[EntityEntry], context: Context) -> tuple[list[EntityEntry], list[ConfigProblem]]:
    """The entries, without the entities that something is wrong with between them and others, and what that is."""
    checked: list[EntityEntry] = []
    problems: list[ConfigProblem] = []
    for entry in entries:
        found = list(_cross_problems(entry, context))
        problems.extend(found)
        checked.append(replace(entry, entity=None) if found else entry)
    return checked, problems


def _cross_problems(entry: EntityEntry, context: Context) -> Iterator[ConfigProblem]:
    crossed = () if entry.entity is None else cross_findings(entry.entity, context)
    for finding in (*reference_findings(entry.kind, entry.document, context), *crossed):
        yield placed(finding, entry.layers, entry.document)
