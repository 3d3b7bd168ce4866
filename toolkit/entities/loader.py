"""Loads a config repo: every file is read, everything that is wrong is reported together."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from toolkit.entities.calendar import Calendar
from toolkit.entities.calendars import known_calendars, load_calendars
from toolkit.entities.checks import Context, cross_findings, reference_findings
from toolkit.entities.cluster import Cluster
from toolkit.entities.datasource import Datasource
from toolkit.entities.entity_loading import EntityEntry, duplicates, known_entries, load_entries
from toolkit.entities.feed import Feed
from toolkit.entities.holds import Hold
from toolkit.entities.mirror_expansion import expand
from toolkit.entities.mirror_types import MirrorType, load_types
from toolkit.entities.overlay_checks import environment_problems, hold_problems
from toolkit.entities.parsing import OnDemand, ParsedFiles, parse_files, parse_on_demand
from toolkit.entities.problems import ConfigError, ConfigProblem
from toolkit.entities.process import Process
from toolkit.entities.quality import Suite
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
    template_name,
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
    written, problems = load_entries(parsed, chosen, None if chosen is None else settings.layers[chosen.name])
    types, expanded, mirror_problems = _expanded(written, parsed)
    entries = [*(each for each in written if each.kind is not Kind.MIRROR), *expanded]
    (holds, suites, calendars), other_problems = _other_files(parsed)
    context = _context(entries, expanded, snapshot.files, settings.settings)
    checked, cross_problems = _cross_checked(entries, context)
    usable = [entry.entity for entry in checked if entry.entity is not None]
    found = {
        *_file_problems(snapshot, parsed),
        *settings.problems,
        *problems,
        *mirror_problems,
        *duplicates([*written, *expanded]),
        *other_problems,
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
        mirrors={entry.name: entry for entry in reversed(written) if entry.kind is Kind.MIRROR},
        mirror_types=types,
        suites=suites,
        calendars=calendars,
    )
    return repository, tuple(sorted(found))


def _other_files(
    parsed: ParsedFiles,
) -> tuple[tuple[tuple[Hold, ...], Mapping[str, Suite], Mapping[str, Calendar]], list[ConfigProblem]]:
    """Return what files say that are about no entity, and what is wrong with them."""
    holds, hold_file_problems = load_holds(parsed)
    suites, suite_problems = load_suites(parsed)
    calendars, calendar_problems = load_calendars(parsed)
    return (holds, suites, calendars), [*hold_file_problems, *suite_problems, *calendar_problems]


def _expanded(
    written: Iterable[EntityEntry], parsed: ParsedFiles
) -> tuple[Mapping[str, MirrorType], list[EntityEntry], list[ConfigProblem]]:
    """Return the types of mirrors, the entities that mirrors stand for, and what is wrong with both."""
    types, problems = load_types(parsed)
    files = frozenset(name for name in map(template_name, parsed.documents) if name is not None)
    both = [expand(each, types, files) for each in written if each.kind is Kind.MIRROR]
    found = [*problems, *(each for _, found in both for each in found)]
    return types, [entry for entries, _ in both for entry in entries], found


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
    written, read_written = known_entries(parsed, chosen, overlay, documents)
    mirrors = {entity_name(file): written[entity_name(file)] for file in documents if entity_kind(file) is Kind.MIRROR}
    types, own, _ = _expanded(mirrors.values(), parse_files(_templates(snapshot.files)))
    expanded = {each.name: each for each in own}
    names = dict.fromkeys([*(name for name in written if name not in mirrors), *expanded])
    entries = OnDemand(names, lambda name: expanded[name] if name in expanded else written[name])
    return Repository(
        clusters=_known(entries, expanded, documents, Cluster),
        feeds=_known(entries, expanded, documents, Feed),
        processes=_known(entries, expanded, documents, Process),
        datasources=_known(entries, expanded, documents, Datasource),
        settings=settings.settings,
        environment=chosen,
        environments=settings.environments,
        holds=load_holds(parsed)[0],
        entries=entries,
        mirrors=mirrors,
        mirror_types=types,
        suites=known_suites(parsed),
        calendars=known_calendars(parsed),
        read_document=lambda name: expanded[name].document if name in expanded else read_written(name),
    )


def _templates(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {file: data for file, data in files.items() if template_name(file) is not None}


def _known(
    entries: Mapping[str, EntityEntry], expanded: Mapping[str, EntityEntry], files: Iterable[str], model: type[T]
) -> Mapping[str, T]:
    names = [entity_name(file) for file in files if entity_kind(file) is model.KIND]
    names += [name for name, entry in expanded.items() if entry.kind is model.KIND]
    return OnDemand(names, lambda name: cast("T", entries[name].entity))


def _of(entities: Iterable[Entity], model: type[T]) -> dict[str, T]:
    return {entity.name: entity for entity in entities if isinstance(entity, model)}


def _context(
    entries: Iterable[EntityEntry],
    expanded: Iterable[EntityEntry],
    files: Mapping[str, bytes],
    settings: RepoSettings,
) -> Context:
    names: dict[Kind, set[str]] = {kind: set() for kind in Kind}
    for file in files:
        kind = entity_kind(file)
        if kind is not None:
            names[kind].add(entity_name(file))
    for each in expanded:
        names[each.kind].add(each.name)
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
        expanded={each.name for each in expanded},
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
