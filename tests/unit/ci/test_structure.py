from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

_CHECK = Path(__file__).parents[3] / ".ci" / "structure.py"
_FOUND = runpy.run_path(str(_CHECK))
environment = cast("Callable[[str, str], Iterator[str]]", _FOUND["environment"])
classes_of_one_name = cast("Callable[[dict[str, str]], Iterator[str]]", _FOUND["classes_of_one_name"])
names = cast("Callable[[str, str], Iterator[str]]", _FOUND["names"])
openings = cast("Callable[[str, str], Iterator[str]]", _FOUND["openings"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import os\nx = os.environ.get('A')", "a.py:2: os.environ is read"),
        ("import os\nx = os.getenv('A')", "a.py:2: os.getenv is read"),
        ("from os import environ", "a.py:1: from os import environ is read"),
        ("def f(variables=process_variables()): ...", "a.py:1: only the boundary"),
        ("import subprocess\nsubprocess.run(['ls'], check=True)", "a.py:2: a program is started without env="),
    ],
)
def test_the_environment_is_read_at_the_boundary_and_given_to_each_program(text: str, found: str) -> None:
    (reported,) = environment("toolkit/a.py", text)
    assert reported.startswith(f"toolkit/{found}")


def test_the_boundary_asks_for_the_variables_and_others_are_handed_them() -> None:
    assert list(environment("toolkit/cli/flags.py", "x = process_variables()")) == []
    assert list(environment("toolkit/a.py", "import os\nos.path.join('a')\nsubprocess.run([], env=variables)")) == []


@pytest.mark.parametrize(
    "opening",
    [
        "What is there.",
        "Those of a table.",
        "Of the bucket.",
        "Whoever asks.",
        "See `A.b`.",
        "Whether it is.",
        "Where it is.",
    ],
)
def test_a_docstring_begins_with_a_verb_or_a_noun(opening: str) -> None:
    (message,) = openings("toolkit/a.py", f'def f() -> None:\n    """{opening}"""')
    assert message == f"toolkit/a.py:2: a docstring begins with {opening.split(maxsplit=1)[0]!r}"
    assert list(openings("toolkit/a.py", 'def f() -> None:\n    """Return the size. What is gone has none."""')) == []


def test_docstrings_of_tests_do_not_begin_with_whether_or_where() -> None:
    text = '"""What a user reads."""\ndef f() -> bool:\n    """Whether it is there."""'
    assert list(openings("tests/unit/a.py", text)) == ["tests/unit/a.py:3: a docstring begins with 'Whether'"]


def test_identifiers_have_the_terms_of_the_field() -> None:
    text = "def run(asked): ...\nclass NextTurn: ...\ndef test_what_was_asked_is_told(): 'asked'\nreturned = likeways"
    assert list(names("toolkit/a.py", text)) == [
        "toolkit/a.py:1: asked has the word 'asked'",
        "toolkit/a.py:2: NextTurn has the word 'turn'",
    ]


def test_two_packages_have_no_class_of_one_name() -> None:
    texts = {"toolkit/a/x.py": "class Step: ...\nclass _Own: ...", "toolkit/b/y.py": "class Step: ...\nclass _Own: ..."}
    assert list(classes_of_one_name(texts)) == ["two classes are called Step, in a, b"]
    assert list(classes_of_one_name({"toolkit/a/x.py": "class Step: ...", "toolkit/a/y.py": "class Step: ..."})) == []
