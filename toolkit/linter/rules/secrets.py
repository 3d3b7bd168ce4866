"""Rule about secrets in the config repo: in values, in comments, and in scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolkit.entities import Pointer, Value
from toolkit.entities.parsing import parse_files
from toolkit.linter.findings import Hit, TextPlace
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.secret_values import is_secret, shape_of
from toolkit.linter.source_map import LINE_BREAK

_MAY_HAVE_ONE = re.compile(
    rb"(?i)password|passwd|pwd|secret|token|key|eyJ|xox|AKIA|ASIA|AIza|gh[pousr]_|github_pat|glpat|:[^\s@:]*@"
)


def secret_in_repo(context: LintContext) -> Iterator[Hit]:
    """No password, key or token stands in the config repo."""
    suspects = {file: data for file, data in context.snapshot.files.items() if _MAY_HAVE_ONE.search(data)}
    for file, data in sorted(suspects.items()):
        layer = parse_files({file: data}).documents.get(file)
        found = [] if layer is None else list(_in_values(file, layer.document, ()))
        yield from found or _in_text(file, data)
    for file, data in sorted(context.snapshot.texts.items()):
        if _MAY_HAVE_ONE.search(data):
            yield from _in_script(file, data)


def _in_values(file: str, value: Value, pointer: Pointer) -> Iterator[Hit]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _in_values(file, each, (*pointer, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _in_values(file, each, (*pointer, index))
    elif isinstance(value, str):
        what = shape_of(value) or _by_name(pointer, value)
        if what:
            yield _secret_hit(file, pointer, f"found what looks like {what}")


def _by_name(pointer: Pointer, value: str) -> str | None:
    """Return the message about a secret, by the name of the key, unless the value only names its place."""
    key = pointer[-1]
    if not isinstance(key, str) or not is_secret(key, value):
        return None
    return f"a secret: the value of {key} stands there itself"


def _in_text(file: str, data: bytes) -> Iterator[Hit]:
    """Comments, and files that are no good YAML."""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        what = shape_of(line)
        if what:
            yield _secret_hit(file, (), f"found what looks like {what} in line {number}")


def _in_script(file: str, data: bytes) -> Iterator[Hit]:
    """Scripts and other files, in which a secret is known by its shape alone."""
    for number, line in enumerate(LINE_BREAK.split(data.decode("utf-8", "replace")), start=1):
        what = shape_of(line)
        if what and not ("URL" in what and _PLACEHOLDER.search(line)):
            start = len(line) - len(line.lstrip())
            place = TextPlace(line=number, column=start + 1, end_column=max(len(line.rstrip()), start + 1) + 1)
            yield _secret_hit(file, (), f"found what looks like {what}", place)


_PLACEHOLDER = re.compile(r"""[{$%<]|["']\s*[+.|]""")
"""A URL with a part that a program fills in or joins to it: its password may be that part."""


def _secret_hit(file: str, pointer: Pointer, message: str, place: TextPlace | None = None) -> Hit:
    return Hit(
        subject=file,
        pointer=pointer,
        place=place,
        message=f"{message}, expected a reference",
        hint="name an environment variable, a file or a credential alias instead, and change the secret: git keeps it",
    )


CHECKS: Mapping[str, Check] = {"secret-in-repo": secret_in_repo}
