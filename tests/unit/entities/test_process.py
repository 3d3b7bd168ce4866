from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import PROCESS, repository


@pytest.mark.parametrize(
    ("frequency", "timeout"),
    [
        ("minutes(1)", "minutes(30)"),
        ("minutes(4)", "minutes(30)"),
        ("minutes(5)", "minutes(30)"),
        ("minutes(6)", "minutes(36)"),
        ("hours(1)", "hours(6)"),
        ("days(1)", "days(6)"),
        ("months(1)", "months(6)"),
    ],
)
def test_a_process_waits_six_times_its_frequency_and_at_least_half_an_hour(frequency: str, timeout: str) -> None:
    """Falcon entity specification, Timeout."""
    repo = repository({"processes/clicks_hourly.yaml": PROCESS.replace("hours(1)", frequency)})
    assert str(repo.process("clicks_hourly").effective_timeout) == timeout


def test_a_timeout_of_its_own_wins_however_short() -> None:
    repo = repository({"processes/clicks_hourly.yaml": PROCESS + "timeout: minutes(1)\n"})
    assert str(repo.process("clicks_hourly").effective_timeout) == "minutes(1)"


def test_a_step_says_which_inputs_it_reads_and_whether_its_success_is_kept() -> None:
    """BDRE: a sub-process has upstreams of its own, and can recover unless it says otherwise."""
    steps = """\
workflow:
  steps:
    - {name: collect, engine: command, path: collect.sh}
    - {name: count, engine: command, path: count.sh, inputs: [clicks]}
    - {name: publish, engine: command, path: publish.sh, inputs: [], recoverable: false}
"""
    text = PROCESS.partition("workflow:")[0] + steps
    process = repository({"processes/clicks_hourly.yaml": text}).process("clicks_hourly")
    assert [(step.name, step.inputs, step.recoverable) for step in process.workflow.steps] == [
        ("collect", None, True),
        ("count", ("clicks",), True),
        ("publish", (), False),
    ]


def test_an_environment_can_give_a_step_all_inputs_again() -> None:
    steps = "workflow: {steps: [{name: count, engine: command, path: count.sh, inputs: []}]}\n"
    texts = {
        "repo.yaml": "environments: [dev]\n",
        "environments/dev.yaml": "entities: {clicks_hourly: {workflow: {steps: [{name: count, inputs: null}]}}}\n",
        "processes/clicks_hourly.yaml": PROCESS.partition("workflow:")[0] + steps,
    }
    assert [repository(texts, name).process("clicks_hourly").workflow.steps[0].inputs for name in (None, "dev")] == [
        (),
        None,
    ]
