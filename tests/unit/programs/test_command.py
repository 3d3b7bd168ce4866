"""The engine `command`, with real processes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.programs.calls import a_call, a_script, never
from toolkit.entities import Credential, Workflow
from toolkit.programs.child import Program, run_program
from toolkit.programs.command import CommandEngine
from toolkit.programs.left_over import MARK_VARIABLE, processes_of
from toolkit.programs.port import StepCall, StepEnd, StepMark
from toolkit.programs.step_log import pieces
from toolkit.runs.errors import Stopped

STOPPED = Stopped(reason="received SIGTERM")
ODD = "a'b\";c\n$(touch x) `id` ünï\u2028 ${HOME}"


def ended(call: StepCall) -> StepEnd:
    return CommandEngine().run(call, _ignored, never)


def _ignored(_mark: StepMark) -> None:
    return


def test_what_a_step_says_and_what_it_is_told_are_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        script = a_script(tmp_path, "for each in 1 2 3; do seq 1 100; sleep 0.1; done")
        call = a_call(tmp_path, script, properties={"clicks": "/in"}, log=tmp_path / "logs/run/7/count.log")
        assert ended(call).succeeded
        program = Program(path=str(script), arguments=("step",), piece_bytes=200, pieces=2)
        assert run_program(program, call, _ignored, never).succeeded
    finally:
        os.umask(before)
    made = [tmp_path / "logs", *(tmp_path / "logs").rglob("*")]
    modes = {each.name: oct(each.stat().st_mode & 0o777) for each in made}
    assert len(modes) > 5, "the log, more pieces, the properties"
    assert {modes.pop(name) for name in ("logs", "run", "7")} == {"0o700"}
    assert set(modes.values()) == {"0o600"}


def test_a_step_has_the_properties_in_its_environment_and_in_its_arguments_as_they_are(tmp_path: Path) -> None:
    script = a_script(tmp_path, 'printf "%s|%s|%s" "$clicks" "$1" "$#"')

    end = ended(a_call(tmp_path, script, "--from=${clicks}!", properties={"clicks": ODD, "job.counter": "1"}))

    assert end.succeeded
    assert (tmp_path / "logs" / "count.log").read_text() == f"{ODD}|--from={ODD}!|1"
    assert not (tmp_path / "x").exists()


def test_a_property_that_no_variable_can_hold_is_in_the_file(tmp_path: Path) -> None:
    script = a_script(tmp_path, 'echo "short $short, long ${long:-none}"; cp "$FEEDCTL_PROPERTIES" copied')
    properties = {"long": "x" * 200_000, "short": "y"}

    end = ended(a_call(tmp_path, script, properties=properties))

    assert end.succeeded
    assert json.loads((tmp_path / "copied").read_text()) == properties
    output = (tmp_path / "logs" / "count.log").read_text()
    assert "the property long is too long for a variable" in output
    assert "short y, long none" in output


def test_a_failure_says_how_the_step_ended_and_the_last_that_it_said(tmp_path: Path) -> None:
    end = ended(a_call(tmp_path, a_script(tmp_path, "echo no such table; exit 3")))

    assert (end.succeeded, end.exit_code, end.may_retry) == (False, 3, None)
    assert end.message == "ended with exit code 3; its log ends with: no such table"


def test_a_step_that_the_system_killed_is_told_apart(tmp_path: Path) -> None:
    end = ended(a_call(tmp_path, a_script(tmp_path, "kill -9 $$")))

    assert end.exit_code == -9
    assert "SIGKILL (the system does so when memory runs out)" in end.message


@pytest.mark.parametrize(
    ("text", "first_line", "mode", "why"),
    [
        ("true", "#!/bin/sh", 0o644, "it is not executable"),
        ("true", "#!/no/such/shell", 0o755, "No such file or directory"),
        ("true", "neither a program nor a script", 0o755, "Exec format error"),
    ],
)
def test_what_cannot_be_started_is_not_tried_again(
    tmp_path: Path, text: str, first_line: str, mode: int, why: str
) -> None:
    script = a_script(tmp_path, text, first_line)
    script.chmod(mode)

    end = ended(a_call(tmp_path, script))

    assert (end.exit_code, end.may_retry) == (None, False)
    assert why in end.message


def test_an_argument_with_an_unknown_property_never_runs(tmp_path: Path) -> None:
    end = ended(a_call(tmp_path, a_script(tmp_path, "touch ran"), "${clics}", properties={"clicks": "/data"}))

    assert end.may_retry is False
    assert "${clics}, which is no property of the instance; did you mean clicks?" in end.message
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["half\udc00", "zero\0"])
def test_a_property_that_is_no_text_is_refused(tmp_path: Path, name: str) -> None:
    end = ended(a_call(tmp_path, a_script(tmp_path, "true"), properties={"p": name}))

    assert end.message.startswith("the property 'p' cannot be handed to a program")


@pytest.mark.parametrize(
    "name", ["PATH", "LD_PRELOAD", "BASH_ENV", "BASH_FUNC_echo%%", "PYTHONPATH", "FEEDCTL_TRUSTED_ENDPOINTS"]
)
def test_no_property_and_no_secret_says_what_code_a_program_loads_or_whom_feedctl_trusts(
    tmp_path: Path, name: str
) -> None:
    script = a_script(tmp_path, f"touch {tmp_path}/ran")
    workflow = Workflow(secrets={name: Credential(env="HOME")})

    ends = [
        ended(a_call(tmp_path, script, properties={name: "() { :; }"})),
        ended(a_call(tmp_path, script, workflow=workflow)),
    ]

    assert [(name in end.message, end.may_retry) for end in ends] == [(True, False)] * 2
    assert not (tmp_path / "ran").exists()


def test_secrets_come_from_where_the_entity_says_and_stay_out_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("file-geheim\n")
    workflow = Workflow(secrets={"A": Credential(env="FEEDCTL_SECRET_A"), "B": Credential(file=str(tmp_path / "pw"))})
    script = a_script(
        tmp_path, 'echo "a=$A b=$B"; printf "%s" "$B" | wc -c; printf "x%.0s" $(seq 70000); printf "%s" "$A"'
    )
    variables = {**os.environ, "FEEDCTL_SECRET_A": "env-geheim"}

    end = ended(a_call(tmp_path, script, workflow=workflow, variables=variables))

    output = (tmp_path / "logs" / "count.log").read_text()
    assert end.succeeded
    assert output.startswith("a=*** b=***\n11\nxxx")
    assert output.endswith("x***")


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        (Credential(env="FEEDCTL_SECRET_NOT_SET"), "the variable FEEDCTL_SECRET_NOT_SET, which is not set"),
        (Credential(env="HOME"), "the variable HOME, which the operator does not offer to steps"),
        (Credential(file="/no/such/file"), "the file /no/such/file"),
        (Credential(alias="pw", provider="jceks://file/x"), "the credential provider jceks://file/x"),
    ],
)
def test_a_secret_that_is_not_there_is_named_by_its_place(tmp_path: Path, reference: Credential, place: str) -> None:
    end = ended(a_call(tmp_path, a_script(tmp_path, "true"), workflow=Workflow(secrets={"PW": reference})))

    assert end.may_retry is False
    assert f"the secret PW is to come from {place}" in end.message


def test_a_step_sees_nothing_of_the_runner_but_its_environment(tmp_path: Path) -> None:
    secret = {"PYSPARK_GATEWAY_PORT": "1", "PYSPARK_GATEWAY_SECRET": "s"}
    script = a_script(tmp_path, "ls /proc/self/fd | wc -l; env | grep -c GATEWAY; cat")

    ended(a_call(tmp_path, script, environment={"PATH": os.environ["PATH"], **secret}))

    assert (tmp_path / "logs" / "count.log").read_text() == "4\n0\n", (
        "input, output, error, and the folder that ls reads"
    )


BACKGROUND = """
setsid sleep 300 &
(setsid sh -c "trap '' TERM; sleep 300 & sleep 300" &)
env -i setsid sleep 300 &
sleep 0.3
"""


def test_what_a_step_leaves_in_the_background_ends_with_it(tmp_path: Path) -> None:
    call = a_call(tmp_path, a_script(tmp_path, BACKGROUND + "echo $$ > pid"), grace_seconds=0.3)

    end = ended(call)

    assert end.succeeded
    assert not processes_of(call.log)
    assert not sleeping(tmp_path)
    assert "that the step had left in the background" in call.log.read_text()


def test_a_stop_ends_the_step_and_all_that_it_started_before_it_goes_on(tmp_path: Path) -> None:
    call = a_call(
        tmp_path, a_script(tmp_path, BACKGROUND + "trap '' TERM; touch ready; sleep 300; sleep 300"), grace_seconds=0.3
    )

    with pytest.raises(Stopped, match="received SIGTERM"):
        CommandEngine().run(call, _ignored, when(tmp_path / "ready"))

    assert not processes_of(call.log)
    assert not sleeping(tmp_path)


def test_a_step_may_put_its_things_in_order_when_it_is_stopped(tmp_path: Path) -> None:
    script = a_script(tmp_path, "trap 'echo tidied; exit 0' TERM; touch ready; while true; do sleep 0.1; done")
    call = a_call(tmp_path, script, grace_seconds=60.0)

    with pytest.raises(Stopped):
        CommandEngine().run(call, _ignored, when(tmp_path / "ready"))

    assert "tidied" in call.log.read_text()


def test_the_mark_is_told_before_the_step_begins_and_its_refusal_leaves_nothing(tmp_path: Path) -> None:
    def refuse(mark: StepMark) -> None:
        assert mark == StepMark(log=call.log)
        raise STOPPED

    call = a_call(tmp_path, a_script(tmp_path, "touch ran"))

    with pytest.raises(Stopped):
        CommandEngine().run(call, refuse, never)

    assert not (tmp_path / "ran").exists()


def test_a_frozen_runner_loses_its_step(tmp_path: Path) -> None:
    call = a_call(tmp_path, a_script(tmp_path, "touch begun; sleep 300"), quiet_seconds=1.0)

    def check() -> None:
        if (tmp_path / "begun").exists():
            time.sleep(2.0)

    end = CommandEngine().run(call, _ignored, check)

    assert not end.succeeded
    assert "its runner gave no sign of life for 1 seconds" in end.message


def test_a_long_log_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    script = a_script(
        tmp_path, "echo begin; for i in $(seq 60); do echo $i of some length; sleep 0.002; done; echo end"
    )
    program = Program(path=str(script), arguments=("step",), piece_bytes=200, pieces=2)
    call = a_call(tmp_path, script)

    end = run_program(program, call, _ignored, never)

    assert end.succeeded
    kept = [call.log, *(call.log.with_name(f"{call.log.name}.{number}") for number in pieces(call.log))]
    assert len(kept) == 3
    assert call.log.read_text().startswith("begin\n1 of some length\n")
    assert kept[-1].read_text().endswith("60 of some length\nend\n")
    assert all(each.stat().st_size <= 200 for each in kept)


def test_a_piece_of_the_log_that_somebody_removed_does_not_end_the_step(tmp_path: Path) -> None:
    call = a_call(tmp_path, a_script(tmp_path, ""))
    script = a_script(tmp_path, f"for i in $(seq 60); do echo $i of some length; sleep 0.002; rm -f {call.log}.*; done")

    end = run_program(Program(path=str(script), arguments=("step",), piece_bytes=200, pieces=1), call, _ignored, never)

    assert end.succeeded, end.message


def sleeping(directory: Path) -> list[str]:
    """Processes in a directory, also those that hide their environment."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if each.name.isdecimal() and (each / "cwd").readlink() == directory:
                found.append((each / "cmdline").read_text())
        except OSError:
            continue
    return found


def when(path: Path) -> Callable[[], None]:
    def check() -> None:
        if path.exists():
            raise STOPPED

    return check


def test_the_variable_that_marks_a_step_is_the_path_of_its_log(tmp_path: Path) -> None:
    call = a_call(tmp_path, a_script(tmp_path, f"echo ${MARK_VARIABLE}"))

    ended(call)

    assert call.log.read_text() == f"{call.log}\n"
