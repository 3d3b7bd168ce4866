"""Checks documents against the schemas; one compiled validator a schema."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from jsonschema import Draft202012Validator, FormatChecker

from toolkit.entities.documents import Document
from toolkit.entities.formats import format_checker
from toolkit.entities.layers import Layer, origin
from toolkit.entities.problems import Problem
from toolkit.entities.schema_store import Form, SchemaName, inlined, schema
from toolkit.entities.violations import Finding, violations


def schema_findings(name: SchemaName, form: Form, document: Document) -> Iterator[Finding]:
    """What a schema does not allow in a document."""
    return violations(_validator(name, form), document)


@lru_cache
def _validator(name: SchemaName, form: Form) -> Draft202012Validator:
    return Draft202012Validator(inlined(schema(name, form)), format_checker=_formats())


@lru_cache
def _formats() -> FormatChecker:
    return format_checker()


def placed(finding: Finding, layers: Sequence[Layer], document: Document) -> Problem:
    """A finding as a problem of the file that its value came from."""
    place = origin(layers, document, finding.pointer)
    if place is None:
        return Problem(file=layers[-1].file, rule=finding.rule, message=finding.message, hint=finding.hint)
    span = place.located.key if finding.on_key else place.value
    shift = 0 if finding.offset is None or span.text_offset is None else span.text_offset + finding.offset
    return Problem(
        file=place.file,
        line=span.line,
        column=span.column + shift,
        rule=finding.rule,
        message=finding.message,
        hint=finding.hint,
    )
