"""Types of mirrors: those of feedctl, and ``templates/NAME.yaml`` of a config repo (ADR 0104)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, cast

from toolkit.el import ElError
from toolkit.entities.documents import Document, Value
from toolkit.entities.formats import FORMATS
from toolkit.entities.layers import Layer
from toolkit.entities.mirror import Mirror
from toolkit.entities.nearest import suggestion
from toolkit.entities.parsing import ParsedFiles, layer_problems
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.schema_store import Form, Schema, SchemaName, inlined, schema
from toolkit.entities.source_files import DEFAULTS_NAME, TEMPLATES_FOLDER, template_name
from toolkit.entities.validation import placed
from toolkit.entities.violation import Violation
from toolkit.entities.yaml_location import Pointer

COMMON = tuple(each.name for each in fields(Mirror) if each.name not in {"type", "values"})
"""Keys of every mirror, which its entities can refer to by ``${key}``."""

WHOLE = re.compile(r"\$\{(?P<name>[a-z][a-z0-9_]*|entity\.(?P<entity>[A-Za-z][A-Za-z0-9_-]*))\}")
"""A text that stands for a value; one that has it as a part is refused, since nothing is put together from texts."""

MOST_VALUES = 20_000
"""Most values of the entities of a template, and of one expanded entity."""

OWN_NAME = "${name}"
"""Name of the entity of a template that has the name of the mirror."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MirrorType:
    """A type of mirrors.

    Attributes:
        description: what it copies or makes.
        values: JSON Schema of the values of a mirror.
        entities: as they are written, with references to values.
        layer: the file of a type of the config repo; None: a type of feedctl, whose values the schema of a process
            checks.
    """

    name: str
    description: str
    values: Schema = field(repr=False)
    entities: Sequence[Document] = field(repr=False)
    layer: Layer | None = field(default=None, repr=False)


def _built_in(name: str, values: Schema) -> MirrorType:
    references: dict[str, Value] = {key: f"${{{key}}}" for key in COMMON if key not in {"cluster", "validity"}}
    process: dict[str, Value] = {
        "kind": "process",
        **references,
        "clusters": [{"name": "${cluster}", "validity": "${validity}"}],
        "workflow": {"engine": "mirror", "mirror": {name: "${values}"}},
    }
    return MirrorType(name=name, description=values["description"], values=values, entities=(process,))


@lru_cache
def built_in_types() -> Mapping[str, MirrorType]:
    """Return the types of feedctl: each stands for one process of the mirror's name."""
    workflow = inlined(schema(SchemaName.PROCESS))["properties"]["workflow"]
    return {name: _built_in(name, values) for name, values in workflow["properties"]["mirror"]["properties"].items()}


def load_types(parsed: ParsedFiles) -> tuple[Mapping[str, MirrorType], tuple[ConfigProblem, ...]]:
    """Return all types by name, those of the config repo without problems, and the problems of the others."""
    types = dict(built_in_types())
    problems: list[ConfigProblem] = []
    for file, layer in sorted(parsed.documents.items()):
        name = template_name(file)
        if name is not None:
            found = [*layer_problems(layer, SchemaName.TEMPLATE, Form.MERGED), *_name_problems(file, name)]
            found = found or [placed(each, [layer], layer.document) for each in _findings(layer.document)]
            problems.extend(found)
            if not found:
                types[name] = _own_type(name, layer)
        elif file.startswith(f"{TEMPLATES_FOLDER}/") and not file.endswith(f"/{DEFAULTS_NAME}"):
            message = "found a type of mirrors in a sub-folder"
            problems.append(ConfigProblem(file=file, rule="file-name", message=message, hint="move it up"))
    return types, tuple(problems)


def _own_type(name: str, layer: Layer) -> MirrorType:
    document = cast("dict[str, Any]", layer.document)
    values: dict[str, dict[str, Any]] = document["values"]
    described = {key: {each: of for each, of in value.items() if each != "optional"} for key, value in values.items()}
    required = [key for key, value in values.items() if not value.get("optional") and "default" not in value]
    own = {"type": "object", "properties": described, "required": required, "additionalProperties": False}
    text = document.get("description") or "a type of this config repo"
    return MirrorType(name=name, description=text, values=own, entities=document["entities"], layer=layer)


def _name_problems(file: str, name: str) -> Iterator[ConfigProblem]:
    if name in built_in_types():
        message, hint = f"found the name {name!r}, which is a type of feedctl", "rename the file"
        yield ConfigProblem(file=file, rule="duplicate-name", message=message, hint=hint)
    try:
        FORMATS["name"](name)
    except ElError as error:
        yield ConfigProblem(file=file, rule="bad-name", message=str(error), hint="rename the file")


def _findings(document: Document) -> Iterator[Violation]:
    values, entities = cast("Mapping[str, Document]", document["values"]), cast("list[Document]", document["entities"])
    for name in {*COMMON, "values"}.intersection(values):
        message = f"found the value {name!r}, which every mirror has"
        yield Violation(pointer=("values", name), rule="duplicate-name", message=message, on_key=True)
    names = [str(each["name"]) for each in entities]
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"the name {name!r} is there twice"
            yield Violation(pointer=("entities", index, "name"), rule="duplicate-name", message=message)
    known = {*COMMON, *values, *(f"entity.{each}" for each in names)}
    yield from _texts(entities, ("entities",), known)
    if not is_small(entities):
        message = f"found more than {MOST_VALUES} values, expected fewer"
        yield Violation(pointer=("entities",), rule="too-large", message=message, on_key=True)


def is_small(value: Value) -> bool:
    """Return whether a value has at most `MOST_VALUES` parts: with aliases, some kilobytes can be gigabytes."""
    pending, count = [value], 0
    while pending and count <= MOST_VALUES:
        part = pending.pop()
        count += 1
        if isinstance(part, Mapping | list):
            pending.extend(part.values() if isinstance(part, Mapping) else part)
    return count <= MOST_VALUES


def _texts(value: Value, pointer: Pointer, known: set[str]) -> Iterator[Violation]:
    """Yield what is wrong with the references in the texts of entities."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(each, (*pointer, key), known)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _texts(each, (*pointer, index), known)
    elif isinstance(value, str):
        finding = Violation(pointer=pointer, rule="unknown-value", message="")
        whole = WHOLE.fullmatch(value)
        if whole is not None and whole["name"] not in known:
            message = f"found {value}, expected a value of the template or of every mirror"
            yield replace(finding, message=message, hint=suggestion(whole["name"], known))
        parts = () if whole else sorted({each["name"] for each in WHOLE.finditer(value)} & known)
        for part in parts:
            message = f"found ${{{part}}} as a part of a text, expected it alone: nothing is put together from values"
            yield replace(finding, message=message, hint="let the mirror give the whole text")
