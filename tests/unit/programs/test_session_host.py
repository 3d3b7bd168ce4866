"""Tests of the program that serves an application to steps, on a context that runs nothing."""

from __future__ import annotations

import importlib
import json
import socket
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

py4j = pytest.importorskip("py4j.protocol")


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", list(sys.path))
    return importlib.import_module("toolkit.programs.session_host")


class Context:
    """A context of which no job is known; what it is request first waits until it `answers`."""

    def __init__(self, *, answers: bool) -> None:
        self.answering = threading.Event()
        if answers:
            self.answering.set()
        self.has_gone = not answers

    def setJobGroup(self, *_: object) -> None:  # noqa: N802 - Spark's name
        self.answering.wait(60)
        if self.has_gone:
            raise py4j.Py4JError

    def addJobTag(self, _tag: str) -> None:  # noqa: N802 - Spark's name
        return

    def cancelJobsWithTag(self, _tag: str) -> None:  # noqa: N802 - Spark's name
        self.answering.wait(60)

    def statusTracker(self) -> SimpleNamespace:  # noqa: N802 - Spark's name
        return SimpleNamespace(getJobIdsForGroup=lambda _tag: [])


def order(text: str = "SELECT 1") -> dict[str, Any]:
    statement = {"number": 1, "line": 1, "text": text}
    return {"tag": "t", "description": "d", "statements": [statement], "quiet_seconds": None, "grace_seconds": 0.2}


def host(context: Context) -> SimpleNamespace:
    return SimpleNamespace(context=context, session=None, has_changed=False)


def test_a_driver_that_answers_no_call_is_ended_after_the_grace_of_a_step(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, ends = Context(answers=False), list[str]()

    def ended(why: str) -> None:
        ends.append(why)
        context.answering.set()

    monkeypatch.setattr(program, "end_application", ended)
    runner, connection = socket.socketpair()
    runner.close()
    with connection:
        program.HostedStep(host(context), order(), connection).run()
    assert ends[0] == "a step did not end within 0.2 seconds after it was cancelled"


def test_rows_that_are_long_reach_the_runner_in_pieces(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    own = SimpleNamespace(session=None, release=lambda: None)
    monkeypatch.setattr(program, "StepSession", lambda _base, _settings: own)
    monkeypatch.setattr(program.sql_runner, "shown", lambda _session, _text: "x" * 1_000_000 + "\n")
    runner, connection = socket.socketpair()
    step = program.HostedStep(host(Context(answers=True)), order(), connection)

    def serve() -> None:
        with connection:
            step.run()

    serving = threading.Thread(target=serve)
    serving.start()
    with runner, runner.makefile("rb") as answers:
        lines = list(answers)
    serving.join()
    facts = [json.loads(each) for each in lines]
    assert max(map(len, lines)) < 100_000
    assert "".join(each.get("say", "") for each in facts).endswith("x" * 1_000_000 + "\n")
    assert facts[-1]["ended"]["message"] == ""


def test_expressions_of_a_validation_are_built_with_the_settings_of_its_session(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = ["the step's"]
    classes = SimpleNamespace(setActiveSession=seen.append)
    session = SimpleNamespace(_jvm=None, _jsparkSession="the validation's")
    own = SimpleNamespace(session=session, release=lambda: None)
    answering = ModuleType("answering")
    vars(answering).update(SETTINGS={}, answer_in=lambda *_: seen.append(f"built with {seen[-1]}"))
    monkeypatch.setattr(program, "StepSession", lambda _base, _settings: own)
    monkeypatch.setattr(program, "_java_class", lambda _jvm: classes, raising=False)
    monkeypatch.setitem(sys.modules, "answering", answering)
    at = host(Context(answers=True))
    at.is_stopped = False
    runner, connection = socket.socketpair()
    with runner, connection:
        request = {**order(), "path": sys.path[0], "module": "answering", "arguments": []}
        program.HostedStep(at, request, connection).run()
    assert seen[1:] == ["the validation's", "built with the validation's"]


def test_the_end_is_heard_from_one_who_asks_for_it_and_leaves(program: ModuleType) -> None:
    jvm_context = SimpleNamespace(listJars=list_of, listFiles=list_of, listArchives=list_of)
    context = SimpleNamespace(applicationId="local-1", _jsc=SimpleNamespace(sc=lambda: jvm_context))
    conf = SimpleNamespace(get=lambda _name: "in-memory")
    serving = program.Host(SimpleNamespace(sparkContext=context, conf=conf))
    asking, connection = socket.socketpair()
    with asking:
        asking.sendall(b'{"end": true}\n')
    serving.serve(connection)
    assert serving.is_over.is_set()


def list_of() -> SimpleNamespace:
    return SimpleNamespace(mkString=lambda _between: "")
