"""Reads the YAML of all files and checks those that are no entities against their schemas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolkit.entities.documents import Document
from toolkit.entities.layers import Layer
from toolkit.entities.problems import Problem
from toolkit.entities.schema_store import Form, SchemaName
from toolkit.entities.validation import placed, schema_findings
from toolkit.entities.yaml_loading import load_yaml
from toolkit.entities.yaml_location import Pointer


@dataclass(frozen=True, slots=True)
class ParsedFiles:
    """The files of a config repo as plain data; those with problems are left out.

    Attributes:
        documents: by path, each as a layer of its own.
        problems: all that is wrong with the files as YAML.
    """

    documents: Mapping[str, Layer] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def parse_files(files: Mapping[str, bytes]) -> ParsedFiles:
    """Reads every file; problems of all of them are collected."""
    documents: dict[str, Layer] = {}
    problems: list[Problem] = []
    for file, data in files.items():
        loaded = load_yaml(data, file)
        problems.extend(loaded.problems)
        if loaded.data is not None:
            documents[file] = Layer(file=file, data=data, document=loaded.data, has_null=loaded.has_null)
    return ParsedFiles(documents, tuple(problems))


def part_of(layer: Layer, pointer: Pointer) -> Layer | None:
    """The layer that stands at a pointer inside another; None when there is no mapping."""
    part: object = layer.document
    for step in pointer:
        part = part.get(step) if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping):
        return None
    document: Document = part
    return Layer(file=layer.file, data=layer.data, document=document, prefix=layer.prefix + pointer)


def layer_problems(layer: Layer, name: SchemaName, form: Form) -> Iterator[Problem]:
    """What a schema does not allow in one layer by itself."""
    for finding in schema_findings(name, form, layer.document):
        yield placed(finding, [layer], layer.document)
