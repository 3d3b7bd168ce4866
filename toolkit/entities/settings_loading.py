"""Loads repo.yaml, the environments, the defaults and the holds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from toolkit.entities.checks.datasets import dataset_findings
from toolkit.entities.checks.lineage import lineage_findings
from toolkit.entities.checks.monitoring import monitoring_findings
from toolkit.entities.checks.shared_sessions import session_findings
from toolkit.entities.documents import Document, Value
from toolkit.entities.errors import UnknownName
from toolkit.entities.holds import Hold, Holds
from toolkit.entities.layers import Layer, merge_layers
from toolkit.entities.merge import merge
from toolkit.entities.nearest import did_you_mean
from toolkit.entities.parsing import ParsedFiles, layer_problems, part_of
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.repo import Environment, RepoSettings, Schedules
from toolkit.entities.schema_store import Form, SchemaName
from toolkit.entities.source_files import (
    DEFAULTS_NAME,
    HOLDS_FILE,
    REPO_FILE,
    entity_kind,
    entity_name,
    environment_name,
)
from toolkit.entities.structure import structure
from toolkit.entities.validation import is_valid, placed, schema_findings
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedSettings:
    """Settings that are known before the entities are read.

    Attributes:
        settings: of repo.yaml, with the environment's overlay.
        environment: the chosen one.
        environments: all that could be read, by name.
        layers: the files of the environments, by name.
        problems: all that is wrong with these files.
    """

    settings: RepoSettings
    environment: Environment | None
    environments: Mapping[str, Environment]
    layers: Mapping[str, Layer] = field(default_factory=dict)
    problems: tuple[ConfigProblem, ...] = ()


def load_settings(parsed: ParsedFiles, files: Mapping[str, bytes], wanted: str | None) -> LoadedSettings:
    """Reads the settings with the wanted environment, or with the repo's default one.

    Raises:
        UnknownName: the wanted environment does not exist.
    """
    base = parsed.documents.get(REPO_FILE)
    problems = list(_repo_problems(base, files))
    usable = None if problems else base
    problems.extend(_environment_problems(parsed))
    environments = {name: _environment(name, layer) for name, layer in _environment_layers(parsed).items()}
    own = RepoSettings() if usable is None else _settings([usable])
    problems.extend(_listing_problems(own, usable, files))
    problems.extend(_own_problems(own, usable, files))
    name = own.default_environment if wanted is None else wanted
    if wanted is not None and wanted not in {environment_name(file) for file in files}:
        raise UnknownName(what="environment", name=wanted, known=environments)
    chosen = environments.get(name) if name is not None else None
    return LoadedSettings(
        settings=_with_overlay(own, usable, parsed, files, chosen, problems),
        environment=chosen,
        environments=environments,
        layers=_environment_layers(parsed),
        problems=tuple(problems),
    )


def load_holds(parsed: ParsedFiles) -> tuple[tuple[Hold, ...], tuple[ConfigProblem, ...]]:
    """The holds, and what is wrong with their file."""
    layer = parsed.documents.get(HOLDS_FILE)
    if layer is None:
        return (), ()
    # Elsewhere null removes what a default says; here it is an edit that was not finished, and would hold nothing.
    is_unfinished = layer.document.get("holds", ()) is None
    cleaned = layer if is_unfinished else replace(layer, document=merge_layers([layer]))
    problems = tuple(layer_problems(cleaned, SchemaName.HOLDS, Form.MERGED))
    return ((), problems) if problems else (structure(cleaned.document, Holds).holds, ())


def defaults_problems(parsed: ParsedFiles) -> Iterator[ConfigProblem]:
    """Yield the violations of schemas in the defaults files by themselves."""
    for file, layer in parsed.documents.items():
        if file.rpartition("/")[2] == DEFAULTS_NAME:
            yield from layer_problems(layer, SchemaName.DEFAULTS, Form.AUTHORED)
            for kind in Kind:
                part = part_of(layer, (str(kind),))
                if part is not None:
                    yield from layer_problems(part, SchemaName(kind), Form.OVERLAY)


def _settings(layers: list[Layer]) -> RepoSettings:
    return structure(merge_layers(layers), RepoSettings)


def _with_overlay(
    own: RepoSettings,
    base: Layer | None,
    parsed: ParsedFiles,
    files: Iterable[str],
    chosen: Environment | None,
    problems: list[ConfigProblem],
) -> RepoSettings:
    if base is None or chosen is None or problems:
        return own
    overlay = part_of(_environment_layers(parsed)[chosen.name], ("repo",))
    if overlay is None:
        return own
    layers = [base, overlay]
    merged = merge_layers(layers)
    found = [placed(each, layers, merged) for each in schema_findings(SchemaName.REPO, Form.MERGED, merged)]
    laid_over = None if found else _settings(layers)
    if laid_over is not None and laid_over != own:
        found = [placed(each, layers, merged) for each in _own_findings(laid_over, files)]
    problems.extend(found)
    return own if found or laid_over is None else laid_over


def _own_problems(settings: RepoSettings, base: Layer | None, files: Iterable[str]) -> Iterator[ConfigProblem]:
    if base is not None:
        for finding in _own_findings(settings, files):
            yield placed(finding, [base], merge([base.document]))


def _own_findings(settings: RepoSettings, files: Iterable[str]) -> Iterator[Violation]:
    yield from dataset_findings(settings.datasets)
    named = files if settings.monitoring.channels else ()  # channels alone name clusters, and a repo has many files
    clusters = {entity_name(file) for file in named if entity_kind(file) is Kind.CLUSTER}
    yield from monitoring_findings(settings.monitoring, clusters)
    yield from lineage_findings(settings)
    if settings.shared_sessions:
        processes = {entity_name(file) for file in files if entity_kind(file) is Kind.PROCESS}
        yield from session_findings(settings.shared_sessions, processes)


def _repo_problems(base: Layer | None, files: Mapping[str, bytes]) -> Iterator[ConfigProblem]:
    if REPO_FILE not in files:
        message = "the file is missing, expected it at the root of a config repo"
        yield ConfigProblem(
            file=REPO_FILE, rule="missing-repo-yaml", message=message, hint="make one with `feedctl init`"
        )
    if base is not None:
        yield from layer_problems(replace(base, document=merge_layers([base])), SchemaName.REPO, Form.MERGED)


def _environment_problems(parsed: ParsedFiles) -> Iterator[ConfigProblem]:
    for file in parsed.documents:
        if file.startswith("environments/") and environment_name(file) is None and not file.endswith(DEFAULTS_NAME):
            yield ConfigProblem(
                file=file, rule="file-name", message="found an environment in a sub-folder", hint="move it up"
            )
    for layer in _environment_layers(parsed).values():
        yield from layer_problems(layer, SchemaName.ENVIRONMENT, Form.AUTHORED)
        overlay = part_of(layer, ("repo",))
        if overlay is not None:
            yield from layer_problems(overlay, SchemaName.REPO, Form.OVERLAY)


def _environment_layers(parsed: ParsedFiles) -> dict[str, Layer]:
    named = ((environment_name(file), layer) for file, layer in parsed.documents.items())
    return {name: layer for name, layer in named if name is not None}


def _environment(name: str, layer: Layer) -> Environment:
    document = layer.document
    clusters, entities = document.get("clusters"), _mapping(document.get("entities"))
    description = document.get("description")
    return Environment(
        name=name,
        description=description if isinstance(description, str) else None,
        clusters=tuple(str(each) for each in clusters) if isinstance(clusters, list) else (),
        repo=_mapping(document.get("repo")),
        entities={each: _mapping(overlay) for each, overlay in entities.items()},
        schedules=_schedules(layer),
    )


def _schedules(layer: Layer) -> Schedules:
    """The section, without what is null; the defaults where the file has problems, which are reported elsewhere."""
    part = part_of(layer, ("schedules",))
    if part is None or not is_valid(SchemaName.ENVIRONMENT, Form.AUTHORED, layer.document):
        return Schedules()
    return structure(merge_layers([part]), Schedules)


def _mapping(value: Value) -> Document:
    return value if isinstance(value, Mapping) else {}


def _listing_problems(
    settings: RepoSettings, base: Layer | None, files: Mapping[str, bytes]
) -> Iterator[ConfigProblem]:
    """repo.yaml lists exactly the environments that have a file, and its default one is among them."""
    if base is None:
        return
    existing = {name for name in map(environment_name, files) if name is not None}
    merged = merge([base.document])
    for index, name in enumerate(settings.environments):
        if name not in existing:
            finding = _missing_environment(("environments", index), name, existing)
            yield placed(finding, [base], merged)
    default = settings.default_environment
    if default is not None and default not in settings.environments:
        yield placed(_missing_environment(("default_environment",), default, existing), [base], merged)
    for name in sorted(existing - set(settings.environments)):
        message = f"the environment {name} is not listed in {REPO_FILE}"
        hint = f"add it to environments in {REPO_FILE}"
        yield ConfigProblem(file=f"environments/{name}.yaml", rule="unlisted-environment", message=message, hint=hint)


def _missing_environment(pointer: tuple[str | int, ...], name: str, existing: set[str]) -> Violation:
    return Violation(
        pointer=pointer,
        rule="unknown-environment",
        message=f"found the environment {name!r}, expected a listed one with a file environments/{name}.yaml",
        hint=did_you_mean(name, existing),
    )
