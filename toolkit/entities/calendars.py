"""Loads the calendars of deadlines: ``calendars/NAME.yaml``."""

from collections.abc import Iterator, Mapping

from toolkit.el import ElError
from toolkit.entities.calendar import Calendar
from toolkit.entities.formats import FORMATS
from toolkit.entities.layers import Layer
from toolkit.entities.parsing import OnDemand, ParsedFiles, layer_problems
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.schema_store import Form, SchemaName
from toolkit.entities.source_files import CALENDARS_FOLDER, DEFAULTS_NAME, calendar_name
from toolkit.entities.structure import structure


def load_calendars(parsed: ParsedFiles) -> tuple[Mapping[str, Calendar], tuple[ConfigProblem, ...]]:
    """Return the calendars without problems, by name, and the problems of the others."""
    calendars: dict[str, Calendar] = {}
    problems = list(_misplaced(parsed))
    for name, file in sorted(_files(parsed).items()):
        layer = parsed.documents[file]
        found = [*layer_problems(layer, SchemaName.CALENDAR, Form.MERGED), *_name_problems(file, name)]
        problems.extend(found)
        if not found:
            calendars[name] = _calendar(layer, name)
    return calendars, tuple(problems)


def known_calendars(parsed: ParsedFiles) -> Mapping[str, Calendar]:
    """Return the calendars of a repo that is known to have no problem, each made when it is asked for."""
    files = _files(parsed)
    return OnDemand(files, lambda name: _calendar(parsed.documents[files[name]], name))


def _files(parsed: ParsedFiles) -> dict[str, str]:
    named = ((calendar_name(file), file) for file in parsed.documents)
    return {name: file for name, file in named if name is not None}


def _misplaced(parsed: ParsedFiles) -> Iterator[ConfigProblem]:
    for file in parsed.documents:
        is_below = file.startswith(f"{CALENDARS_FOLDER}/") and not file.endswith(f"/{DEFAULTS_NAME}")
        if is_below and calendar_name(file) is None:
            message = "found a calendar in a sub-folder"
            yield ConfigProblem(file=file, rule="file-name", message=message, hint="move it up")


def _name_problems(file: str, name: str) -> Iterator[ConfigProblem]:
    try:
        FORMATS["name"](name)
    except ElError as error:
        yield ConfigProblem(file=file, rule="bad-name", message=str(error), hint="rename the file")


def _calendar(layer: Layer, name: str) -> Calendar:
    return structure({**layer.document, "name": name}, Calendar)
