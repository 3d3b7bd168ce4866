"""Checks documents against the schemas: a compiled validator says whether, another one in words what is wrong."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from jsonschema_rs import Draft202012Validator

from toolkit.entities.documents import Document
from toolkit.entities.formats import FORMATS, allows
from toolkit.entities.layers import Layer, origin
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.schema_store import Form, SchemaName, inlined, schema
from toolkit.entities.violation import Violation


def schema_findings(name: SchemaName, form: Form, document: Document) -> Iterator[Violation]:
    """Yield the violations of a schema in a document."""
    if not is_valid(name, form, document):
        from toolkit.entities.violations import violations  # noqa: PLC0415 - most repos have nothing to explain

        yield from violations(name, form, document)


def is_valid(name: SchemaName, form: Form, document: Document) -> bool:
    """Return whether a schema allows a document of YAML values with texts as keys."""
    return _validator(name, form).is_valid(document)


@lru_cache
def _validator(name: SchemaName, form: Form) -> Draft202012Validator:
    formats: dict[str, Callable[..., bool]] = {each: partial(allows, check) for each, check in FORMATS.items()}
    return Draft202012Validator(inlined(schema(name, form)), formats=formats, validate_formats=True, offline=True)


def placed(finding: Violation, layers: Sequence[Layer], document: Document) -> ConfigProblem:
    """A finding as a problem of the file that its value came from."""
    place = origin(layers, document, finding.pointer)
    if place is None:
        return ConfigProblem(file=layers[-1].file, rule=finding.rule, message=finding.message, hint=finding.hint)
    span = place.located.key if finding.on_key else place.value
    shift = 0 if finding.offset is None or span.text_offset is None else span.text_offset + finding.offset
    return ConfigProblem(
        file=place.file,
        line=span.line,
        column=span.column + shift,
        rule=finding.rule,
        message=finding.message,
        hint=finding.hint,
    )
