"""The two files between the gate and the process that judges: what is written is what is read, and nothing less is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolkit.quality.documents import (
    Answer,
    ExpectationResult,
    NotUnderstood,
    Question,
    RequestedExpectation,
    RequestedPart,
    read_answer,
    read_question,
    write_answer,
    write_question,
)

QUESTION = Question(
    parts=(RequestedPart(uri="hdfs://nn/a"), RequestedPart(uri="/b", keys={"country": "fr"})),
    format="csv",
    expectations=(
        RequestedExpectation(
            suite="clicks",
            position=0,
            type="expect_column_values_to_be_in_set",
            kwargs={"column": "colo", "value_set": ["fra", 1, None], "mostly": 0.9},
            severity="critical",
            meta={"why": "é"},
        ),
    ),
    options={"header": "true"},
    columns={"colo": "string", "amount": "double"},
    keys={"country": "string"},
    sample=0.5,
    shows_values=True,
)
ANSWER = Answer(
    findings=(
        ExpectationResult(
            suite="clicks",
            position=0,
            type="t",
            severity="critical",
            success=False,
            rows=3,
            unexpected=1,
            values=("x",),
        ),
    ),
    rows=3,
    seconds=1.5,
    engine="great_expectations 1",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "exchange.json"


def changed(path: Path, *where: str | int, value: object = None, drop: bool = False) -> None:
    whole: Any = json.loads(path.read_text())
    place = whole
    for step in where[:-1]:
        place = place[step]
    if drop:
        del place[where[-1]]
    else:
        place[where[-1]] = value
    path.write_text(json.dumps(whole))


def test_a_question_is_read_as_it_was_written_by_its_owner_alone(path: Path) -> None:
    write_question(path, QUESTION)
    assert read_question(path) == QUESTION
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_an_answer_is_read_as_it_was_written_and_replaces_what_was_there(path: Path) -> None:
    path.write_text("half of an ans")
    write_answer(path, ANSWER)
    assert read_answer(path) == ANSWER
    write_answer(path, Answer(refused="no data"))
    assert read_answer(path) == Answer(refused="no data")


@pytest.mark.parametrize(
    ("where", "change", "why"),
    [
        (("version",), {"value": 2}, "version"),
        (("version",), {"drop": True}, "version"),
        (("findings",), {"drop": True}, "fields"),
        (("refused",), {"drop": True}, "fields"),
        (("more",), {"value": 1}, "fields"),
        (("findings", 0, "success"), {"drop": True}, "fields"),
        (("findings", 0, "success"), {"value": "true"}, "success"),
        (("findings", 0, "success"), {"value": 1}, "success"),
        (("findings", 0, "success"), {"value": None}, "success"),
        (("findings", 0, "position"), {"value": True}, "position"),
        (("findings", 0), {"value": "passed"}, "findings"),
        (("findings",), {"value": {}}, "findings"),
        (("seconds",), {"value": "1"}, "seconds"),
    ],
)
def test_an_answer_that_lacks_something_or_is_of_another_version_is_none(
    path: Path, where: tuple[str | int, ...], change: dict[str, Any], why: str
) -> None:
    write_answer(path, ANSWER)
    changed(path, *where, **change)
    with pytest.raises(NotUnderstood, match=why):
        read_answer(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"passed"', "{}", "\x00"])
def test_what_is_no_json_of_ours_is_no_answer(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(NotUnderstood):
        read_answer(path)


def test_a_question_is_no_answer(path: Path) -> None:
    write_question(path, QUESTION)
    with pytest.raises(NotUnderstood):
        read_answer(path)


def test_what_a_killed_process_left_beside_is_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getpid", lambda: 7)
    path.with_name(f".{path.name}.7").write_text("half")
    write_answer(path, ANSWER)
    assert read_answer(path) == ANSWER
