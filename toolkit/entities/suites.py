"""Loads the suites of expectations: ``expectations/NAME.yaml``, or ``NAME.json`` as Great Expectations writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from toolkit.el import ElError
from toolkit.entities.formats import FORMATS
from toolkit.entities.layers import Layer
from toolkit.entities.parsing import OnDemand, ParsedFiles, layer_problems
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.quality import Expectation, Suite
from toolkit.entities.schema_store import Form, SchemaName
from toolkit.entities.source_files import suite_name
from toolkit.entities.vocabulary import ExpectationSeverity
from toolkit.entities.yaml_location import locate


def load_suites(parsed: ParsedFiles) -> tuple[Mapping[str, Suite], tuple[ConfigProblem, ...]]:
    """The suites without problems, by name, and what is wrong with the others."""
    suites: dict[str, Suite] = {}
    problems: list[ConfigProblem] = []
    for file, name in sorted(_files(parsed).items()):
        layer = parsed.documents[file]
        found = [*layer_problems(layer, SchemaName.SUITE, Form.MERGED), *_name_problems(layer, name)]
        if name in suites:
            message = f"the name {name!r} is taken by {suites[name].path}"
            hint = "a suite is one file: remove the other"
            found.append(ConfigProblem(file=file, rule="duplicate-name", message=message, hint=hint))
        problems.extend(found)
        if not found:
            suites[name] = _suite(layer, name)
    return suites, tuple(problems)


def known_suites(parsed: ParsedFiles) -> Mapping[str, Suite]:
    """The suites of a repo that is known to have no problem, each made when it is asked for."""
    files = {name: file for file, name in _files(parsed).items()}
    return OnDemand(files, lambda name: _suite(parsed.documents[files[name]], name))


def _files(parsed: ParsedFiles) -> dict[str, str]:
    named = ((file, suite_name(file)) for file in parsed.documents)
    return {file: name for file, name in named if name is not None}


def _suite(layer: Layer, name: str) -> Suite:
    listed = cast("list[dict[str, Any]]", layer.document["expectations"])
    expectations = (
        Expectation(
            type=each["type"],
            kwargs=each.get("kwargs", {}),
            severity=ExpectationSeverity(each.get("severity", ExpectationSeverity.CRITICAL)),
            meta=each.get("meta") or {},
        )
        for each in listed
    )
    return Suite(name=name, path=layer.file, expectations=tuple(expectations))


def _name_problems(layer: Layer, wanted: str) -> Iterator[ConfigProblem]:
    try:
        FORMATS["name"](wanted)
    except ElError as error:
        yield ConfigProblem(file=layer.file, rule="bad-name", message=str(error), hint="rename the file")
    name = layer.document.get("name")
    if isinstance(name, str) and name != wanted:
        place = locate(layer.data, ("name",))
        message = f"found the name {name!r} in {layer.file}, expected {wanted!r}"
        hint = "the file of a suite has the suite's name"
        line, column = (0, 0) if place is None else (place.value.line, place.value.column)
        yield ConfigProblem(file=layer.file, line=line, column=column, rule="file-name", message=message, hint=hint)
