"""Schema violations in words: what was found, what was expected, which key was probably meant."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol, cast

from jsonschema import Draft202012Validator, FormatChecker

from toolkit.el import ElError
from toolkit.entities.documents import Document, Value
from toolkit.entities.formats import FORMATS
from toolkit.entities.nearest import did_you_mean, nearest, suggestion
from toolkit.entities.not_implemented import WITHOUT_ACTION
from toolkit.entities.pointers import path_text
from toolkit.entities.schema_store import NESTING, Form, Schema, SchemaName, inlined, schema
from toolkit.entities.value_hints import value_hint, without_unit
from toolkit.entities.violation import Violation
from toolkit.entities.yaml_location import Pointer


class _Violation(Protocol):
    """The attributes of jsonschema's error that are used; its own types are less exact."""

    validator: str
    validator_value: Any
    instance: Any
    schema: Mapping[str, Any]
    cause: Exception | None
    message: str

    @property
    def absolute_path(self) -> Sequence[str | int]: ...
    @property
    def absolute_schema_path(self) -> Sequence[str | int]: ...


def violations(name: SchemaName, form: Form, document: Document) -> Iterator[Violation]:
    """Everything in a document that its schema does not allow, each once; of very much the first."""
    yield from _violations(_validator(name, form), document)


def violations_of(own_schema: Schema, document: Document) -> Iterator[Violation]:
    """Yield what a schema that is no file of ours does not allow."""
    yield from _violations(Draft202012Validator(own_schema, format_checker=_format_checker()), document)


def _violations(validator: Draft202012Validator, document: Document) -> Iterator[Violation]:
    seen: set[tuple[Pointer, str, str]] = set()
    for error in validator.iter_errors(document):
        for finding in _findings(cast("_Violation", error), document):
            key = (finding.pointer, finding.rule, finding.message)
            if key in seen:
                continue
            if len(seen) == MOST_VIOLATIONS:
                yield replace(finding, message=f"{_MORE} from here on, the first: {finding.message}", hint="")
                return
            seen.add(key)
            yield finding


MOST_VIOLATIONS = 1000
_MORE = f"more than {MOST_VIOLATIONS:,} problems like this"


@lru_cache
def _validator(name: SchemaName, form: Form) -> Draft202012Validator:
    return Draft202012Validator(inlined(schema(name, form)), format_checker=_format_checker())


@lru_cache
def _format_checker() -> FormatChecker:
    """A checker that knows feedctl's formats and no others; the cause of each failure is an `ElError`."""
    checker = FormatChecker(formats=())
    for name, check in FORMATS.items():
        checker.checks(name, raises=ElError)(_for_text(check))
    return checker


def _for_text(check: Callable[[str], object]) -> Callable[[object], bool]:
    def passes(value: object) -> bool:
        if isinstance(value, str):  # anything else is the business of `type`
            check(value)
        return True

    return passes


def _findings(error: _Violation, document: Document) -> Iterator[Violation]:
    pointer: Pointer = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        yield _bad_name(error, document, pointer)
        return
    explain = _EXPLANATIONS.get(error.validator, _any_other)
    yield from explain(error, document, pointer)


def _bad_name(error: _Violation, document: Document, pointer: Pointer) -> Violation:
    where = (*pointer, str(error.instance))
    return Violation(
        pointer=where, rule="bad-name", message=f"{path_text(document, where)}: {_reason(error)}", on_key=True
    )


def _unknown_keys(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    known: Mapping[str, Any] = error.schema.get("properties", {})
    for key in error.instance:
        if key not in known:
            yield Violation(
                pointer=(*pointer, key),
                rule="unknown-key",
                message=f"unknown key {key!r}{_inside(document, pointer)}",
                hint=_hint(key, pointer, known),
                on_key=True,
            )


_REFERENCE = "nothing secret may stand in the repo: give env, file, or alias and provider"
_SECRETS = dict.fromkeys(("password", "passwd", "secret", "token", "passwordtext", "password_text"), _REFERENCE)


def _hint(key: str, pointer: Pointer, known: Mapping[str, Any]) -> str:
    if key in _CONDITIONS and pointer[:1] == ("trigger",):
        return f"conditions are nested at most {NESTING} deep"
    return _SECRETS.get(key.casefold(), "") or suggestion(key, known)


_CONDITIONS = frozenset({"all", "any"})


def _missing_keys(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    known: Mapping[str, Any] = error.schema.get("properties", {})
    misspelt = {name for key in error.instance if key not in known for name in nearest(key, known)[:1]}
    for key in error.validator_value:
        if key not in error.instance and key not in misspelt:  # else `unknown-key` says what to write
            yield Violation(
                pointer=pointer,
                rule="missing-key",
                message=f"missing key {key!r}{_inside(document, pointer)}",
                hint=_meaning(error.schema, key),
                on_key=True,
            )


def _meaning(schema: Mapping[str, Any], key: str) -> str:
    described = schema.get("properties", {}).get(key, {}).get("description", "")
    return f"{key}: {described}" if described else ""


def _wrong_type(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    expected = " or ".join(_TYPE_NAMES[each] for each in wanted if each != "null")
    yield Violation(
        pointer=pointer,
        rule="wrong-type",
        message=f"{path_text(document, pointer)}: found {_described(error.instance)}, expected {expected}",
        hint=_type_hint(error, wanted),
    )


def _type_hint(error: _Violation, wanted: Sequence[str]) -> str:
    """Return what to write instead of a value of another type."""
    found = error.instance
    if "string" in wanted and isinstance(found, int | float):
        is_count = error.schema.get("format") == "frequency" and isinstance(found, int) and found > 0
        return without_unit(str(found)) if is_count else "put quotes around it"
    if isinstance(found, str):
        return _hint_for_text(found, wanted, error.schema)
    if "array" in wanted and isinstance(found, Mapping):
        return "write a list: each item begins with '- '"
    return ""


def _hint_for_text(found: str, wanted: Sequence[str], schema: Mapping[str, Any]) -> str:
    meant = _BOOLEANS.get(found.casefold()) if "boolean" in wanted else None
    if meant is not None:
        return f"did you mean {meant}?"
    if {"integer", "number"} & set(wanted) and found.isdecimal():
        return "remove the quotes"
    if "array" in wanted:
        return "write a list: [..., ...], or a line for each item that begins with '- '"
    if "object" in wanted and schema.get("properties"):
        keys = sorted(schema["properties"], key=lambda key: key not in schema.get("required", ()))
        return f"write a mapping with keys such as {', '.join(keys[:_SHOWN_KEYS])}: {{{keys[0]}: ...}}"
    return ""


_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_SHOWN_KEYS = 3


_TYPE_NAMES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
}


def _described(value: Value) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else _scalar_text(value)


def _scalar_text(value: Value) -> str:
    return f"the text {value!r}" if isinstance(value, str) else f"the number {value}"


def _not_in_set(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    if not isinstance(error.instance, str):
        return  # the type is wrong, and `type` says so
    allowed = [str(each) for each in error.validator_value if each is not None and each not in WITHOUT_ACTION]
    yield Violation(
        pointer=pointer,
        rule="bad-value",
        message=f"{path_text(document, pointer)}: found {error.instance!r}, expected {_one_of(allowed)}",
        hint=did_you_mean(error.instance, allowed),
    )


def _one_of(allowed: list[str]) -> str:
    return allowed[0] if len(allowed) == 1 else f"one of {', '.join(allowed)}"


def _wrong_kind(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    message = f"{path_text(document, pointer)}: found {error.instance!r}, expected {error.validator_value!r}"
    hint = "the kind of an entity goes with its folder" if pointer == ("kind",) else ""
    yield Violation(pointer=pointer, rule="wrong-kind", message=message, hint=hint)


def _bad_format(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    cause = error.cause
    yield Violation(
        pointer=pointer,
        rule=f"bad-{error.validator_value}",
        message=f"{path_text(document, pointer)}: {_reason(error)}",
        hint=value_hint(str(error.validator_value), error.instance),
        offset=cause.position if isinstance(cause, ElError) else None,
    )


def _reason(error: _Violation) -> str:
    return str(error.cause) if error.cause is not None else error.message


def _any_other(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    describe = _LIMITS.get(error.validator)
    expected = describe(error.validator_value) if describe else None
    found = _described(error.instance)
    reason = f"found {found}, expected {expected}" if expected else error.message
    yield Violation(pointer=pointer, rule="bad-value", message=f"{path_text(document, pointer)}: {reason}")


_LIMITS: dict[str, Callable[[Any], str]] = {
    "minimum": lambda limit: f"at least {limit}",
    "exclusiveMinimum": lambda limit: f"more than {limit}",
    "maximum": lambda limit: f"at most {limit}",
    "minLength": lambda _: "a text that is not empty",
    "minItems": lambda limit: f"a list with at least {limit} item",
    "minProperties": lambda limit: f"a mapping with at least {limit} key",
    "uniqueItems": lambda _: "a list without repetition",
    "pattern": lambda pattern: f"a text that matches {pattern}",
}


def _dependent(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    for key, needed in error.validator_value.items():
        for each in needed:
            if key in error.instance and each not in error.instance:
                message = f"missing key {each!r}{_inside(document, pointer)}, which goes with {key!r}"
                yield Violation(pointer=pointer, rule="missing-key", message=message, on_key=True)


def _inside(document: Document, pointer: Pointer) -> str:
    return f" in {path_text(document, pointer)}" if pointer else ""


def _not_exactly_one(error: _Violation, document: Document, pointer: Pointer) -> Iterator[Violation]:
    """Explain a choice between keys, of which some allow no other key beside them."""
    keys = [str(each["required"][0]) for each in error.validator_value]
    present = [key for key in keys if key in error.instance]
    others = [key for key in error.instance if key not in present]
    if len(present) == 1:
        found, expected = f"{' and '.join(others)} beside {present[0]}", f"{present[0]} alone"
    else:
        found, expected = " and ".join(present) or "none", f"exactly one of {', '.join(keys[:-1])} and {keys[-1]}"
    message = f"{path_text(document, pointer)}: found {found}, expected {expected}"
    yield Violation(pointer=pointer, rule="bad-value", message=message)


_EXPLANATIONS: dict[str, Callable[[_Violation, Document, Pointer], Iterator[Violation]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_keys,
    "dependentRequired": _dependent,
    "type": _wrong_type,
    "enum": _not_in_set,
    "const": _wrong_kind,
    "format": _bad_format,
    "oneOf": _not_exactly_one,
}
