"""Reads the YAML, and the JSON of suites, of all files and checks those that are no entities against their schemas."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from toolkit.entities.documents import Document
from toolkit.entities.json_loading import load_json
from toolkit.entities.layers import Layer
from toolkit.entities.problems import ConfigError, ConfigProblem
from toolkit.entities.schema_store import Form, SchemaName
from toolkit.entities.source_files import JSON_SUFFIX
from toolkit.entities.validation import placed, schema_findings
from toolkit.entities.yaml_loading import LoadedYaml, load_yaml
from toolkit.entities.yaml_location import Pointer

T = TypeVar("T")


class OnDemand(Mapping[str, T]):
    """A mapping whose values are made when they are asked for, each once.

    Args:
        names: the keys.
        make: the value of a key.
    """

    def __init__(self, names: Collection[str], make: Callable[[str], T]) -> None:
        self._names, self._make = dict.fromkeys(names), make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


@dataclass(frozen=True, slots=True)
class ParsedFiles:
    """The files of a config repo as plain data; those with problems are left out.

    Attributes:
        documents: by path, each as a layer of its own.
        problems: all that is wrong with the files as YAML.
    """

    documents: Mapping[str, Layer] = field(default_factory=dict)
    problems: tuple[ConfigProblem, ...] = ()


def parse_files(files: Mapping[str, bytes]) -> ParsedFiles:
    """Reads every file; problems of all of them are collected."""
    documents: dict[str, Layer] = {}
    problems: list[ConfigProblem] = []
    for file, data in files.items():
        layer, found = _parsed(file, data)
        problems.extend(found)
        if layer is not None:
            documents[file] = layer
    return ParsedFiles(documents, tuple(problems))


def parse_on_demand(files: Mapping[str, bytes]) -> ParsedFiles:
    """Files that are known to have no problem, each read when it is asked for."""

    def layer_of(file: str) -> Layer:
        layer, problems = _parsed(file, files[file])
        if layer is None:
            raise ConfigError(problems=problems)
        return layer

    return ParsedFiles(OnDemand(files, layer_of))


def _parsed(file: str, data: bytes) -> tuple[Layer | None, tuple[ConfigProblem, ...]]:
    loaded = load_document(data, file)
    if loaded.data is None:
        return None, loaded.problems
    return Layer(file=file, data=data, document=loaded.data, has_null=loaded.has_null), loaded.problems


def load_document(data: bytes, file: str) -> LoadedYaml:
    """Reads one file as what its ending says, YAML or JSON; never raises for its content."""
    return load_json(data, file) if file.endswith(JSON_SUFFIX) else load_yaml(data, file)


def part_of(layer: Layer, pointer: Pointer) -> Layer | None:
    """The layer that stands at a pointer inside another; None when there is no mapping."""
    part: object = layer.document
    for step in pointer:
        part = part.get(step) if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping):
        return None
    document: Document = part
    return Layer(file=layer.file, data=layer.data, document=document, prefix=layer.prefix + pointer)


def layer_problems(layer: Layer, name: SchemaName, form: Form) -> Iterator[ConfigProblem]:
    """Yield the violations of the schema in one layer by itself."""
    for finding in schema_findings(name, form, layer.document):
        yield placed(finding, [layer], layer.document)
