"""The files that a migration is to write, proved by loading them, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.config_source import Snapshot, SnapshotId, SnapshotKind
from toolkit.entities import ConfigProblem, Document, Kind, Repository, load_all
from toolkit.entities.entity_loading import EntityEntry
from toolkit.entities.schema_store import SchemaName, schema
from toolkit.entities.source_files import DEFAULTS_NAME, REPO_FILE, SUFFIX, is_config_file
from toolkit.migration.common_values import common_values, defaults, without
from toolkit.migration.conversion import convert
from toolkit.migration.draft import Draft, MigrationRefused
from toolkit.migration.sources import Sources
from toolkit.migration.trace import Tracing
from toolkit.migration.yaml_writing import yaml_text

_LEDGER = "sqlite:///.feedctl/ledger.db"
_IGNORED = ".feedctl/\n.schemas/\n"
_UNKNOWN = frozenset(f"unknown-{kind}" for kind in Kind)
"""Problems of a reference to an entity that is not there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Files that a migration writes.

    Attributes:
        existing: the config repo that it goes into; without files when it is to be made.
        files: new ones, by path in the config repo.
        lifted: what `defaults.yaml` says of each kind.
        left_alone: files of the named folders that are no entities of Falcon's.
    """

    existing: Snapshot
    drafts: tuple[Draft, ...]
    files: Mapping[str, bytes] = field(repr=False)
    lifted: Mapping[Kind, Document]
    left_alone: tuple[str, ...]

    def snapshot(self) -> Snapshot:
        """The config repo as it will be."""
        files = {name: data for name, data in self.files.items() if is_config_file(name)}
        return replace(
            self.existing,
            files={**self.existing.files, **files},
            names=self.existing.names | (self.files.keys() - files.keys()),
        )

    def tracing(self) -> Tracing:
        """Return the places of the XML's texts in the new files."""
        return Tracing(drafts=self.drafts, files=self.files, lifted=self.lifted)


def nothing_there(root: Path) -> Snapshot:
    """A config repo that has yet to be made."""
    return Snapshot(root=str(root), files={}, id=SnapshotId(kind=SnapshotKind.DIRECTORY, value=""))


def plan(sources: Sources, existing: Snapshot) -> Plan:
    """Plan a migration.

    Args:
        sources: Falcon's entities.
        existing: the config repo that they go into, see `nothing_there`.

    Raises:
        MigrationRefused: something in the XML is wrong, or the YAML of it would be; all of it is named.
    """
    is_new = REPO_FILE not in existing.files
    there = {} if is_new else {name: entry.document for name, entry in _written(_loaded(existing)).items()}
    converted, in_xml = convert(sources.entities, there)
    problems = [*sources.problems, *in_xml]
    wrong = {each.file for each in problems}
    drafts = tuple(each for each in converted if each.file not in wrong)
    lifted = {kind: common_values([each.document for each in drafts if each.kind is kind]) for kind in Kind}
    lifted = lifted if is_new else {kind: {} for kind in Kind}
    taken_out = {} if is_new else _defaults_that_do_not_hold(existing, drafts)
    files = {file_of(each): _entity_file(each, lifted[each.kind], taken_out.get(each.name, ())) for each in drafts}
    if is_new:
        files |= _repo_files(existing.root, defaults(lifted))
    scripts = {name: text.encode() for each in drafts for name, text in each.scripts.items()}
    made = Plan(
        existing=existing,
        drafts=drafts,
        files={**files, **scripts},
        lifted=lifted,
        left_alone=sources.left_alone,
    )
    problems += _not_what_is_meant(made, is_all=not problems)
    if problems:
        raise MigrationRefused(problems=problems)
    return made


def file_of(draft: Draft) -> str:
    """The file of an entity in the config repo."""
    return f"{draft.kind.folder}/{draft.name}{SUFFIX}"


def _defaults_that_do_not_hold(existing: Snapshot, drafts: Sequence[Draft]) -> Mapping[str, Collection[str]]:
    """Return by entity the keys that the repo's defaults would add, though the entity does not have them."""
    files = {file_of(each): _entity_file(each, {}) for each in drafts}
    entries = _written(load_all(replace(existing, files={**existing.files, **files}))[0])
    merged = {each.name: entries[each.name].document for each in drafts if each.name in entries}
    return {each.name: merged[each.name].keys() - each.document.keys() for each in drafts if each.name in merged}


def _entity_file(draft: Draft, common: Document, taken_out: Collection[str] = ()) -> bytes:
    known = list(schema(SchemaName(draft.kind))["properties"])
    document = {**without(draft.document, common), **dict.fromkeys(taken_out)}
    ordered = sorted(document.items(), key=lambda item: _place(item[0], known))
    name = Path(draft.file).name
    return yaml_text(dict(ordered), f"Migrated from Falcon's {name}").encode("utf-8", "backslashreplace")


def _place(key: str, known: Sequence[str]) -> int:
    return known.index(key) if key in known else len(known)


def _repo_files(root: str, common: Document) -> dict[str, bytes]:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(root).name).lstrip("-_0123456789")[:120] or "falcon"
    repo: Document = {"name": name, "description": "Migrated from Falcon", "ledger": _LEDGER}
    files = {REPO_FILE: yaml_text(repo), ".gitignore": _IGNORED}
    if common:
        files[DEFAULTS_NAME] = yaml_text(common, "What all migrated entities of a kind say alike")
    return {file: text.encode() for file, text in files.items()}


def _written(repository: Repository) -> Mapping[str, EntityEntry]:
    """Return the entities as they are written: a mirror, and not the process of its name."""
    return {**repository.entries, **repository.mirrors}


def _loaded(snapshot: Snapshot) -> Repository:
    repository, problems = load_all(snapshot)
    if problems:
        raise MigrationRefused(problems=problems)
    return repository


def _not_what_is_meant(made: Plan, *, is_all: bool) -> list[ConfigProblem]:
    """Load what will be written: it is what the drafts say, or nothing is written.

    Args:
        made: the plan.
        is_all: else files were left out, and a name that leads nowhere may be that of an entity in one of them.
    """
    repository, problems = load_all(made.snapshot())
    if not problems:
        return [each for draft in made.drafts for each in _changed(draft, repository)]
    found = made.tracing().in_xml(problems)
    return [each for each in found if is_all or each.rule not in _UNKNOWN]


def _changed(draft: Draft, repository: Repository) -> Iterator[ConfigProblem]:
    """An entity that defaults of the config repo would make another one."""
    merged = _written(repository)[draft.name].document
    if merged != draft.document:
        keys = sorted(key for key in {*merged, *draft.document} if merged.get(key) != draft.document.get(key))
        message = f"{file_of(draft)} would say something else because of defaults.yaml: {', '.join(keys)}"
        hint = "migrate into a folder of its own, or take these keys out of the defaults"
        yield ConfigProblem(
            file=draft.file, line=draft.root.line, column=1, rule="changed-by-defaults", message=message, hint=hint
        )


def refuse_taken(made: Plan) -> None:
    """Refuse to replace a file of the config repo; one that is the same is what an earlier migration wrote.

    Raises:
        MigrationRefused: files are there already, and differ.
    """
    taken = made.files.keys() & made.existing.files.keys()
    different = sorted(file for file in taken if made.existing.files[file] != made.files[file])
    problems = [
        ConfigProblem(
            file=f"{made.existing.root}/{file}",
            rule="file-exists",
            message="the file is there already, and would be another",
            hint="remove it, or leave its entity out",
        )
        for file in different
    ]
    if problems:
        raise MigrationRefused(problems=problems)
