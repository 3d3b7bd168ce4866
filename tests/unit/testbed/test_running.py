"""A program that a test starts ends with the test's block, whatever ends the block."""

from __future__ import annotations

import subprocess
import time

import pytest

from tests.liveness import is_alive
from tests.testbed.running import ending

_STARTS_A_CHILD = "sleep 300 & echo $!; wait"
_SECONDS = 20


@pytest.mark.parametrize("is_group", [True, False])
def test_a_failed_assertion_leaves_no_process_and_no_open_pipe(*, is_group: bool) -> None:
    shell = subprocess.Popen(["sleep", "300"], stdout=subprocess.PIPE, start_new_session=is_group)
    begun = time.monotonic()
    with pytest.raises(pytest.fail.Exception, match="the test failed"), ending(shell):
        pytest.fail("the test failed")
    assert time.monotonic() - begun < _SECONDS
    assert shell.returncode is not None
    assert shell.stdout is not None
    assert shell.stdout.closed


def test_children_of_a_program_end_with_it_even_when_it_has_ended_before() -> None:
    command = ["sh", "-c", _STARTS_A_CHILD]
    with ending(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)) as shell:
        assert shell.stdout is not None
        child = int(shell.stdout.readline())
        shell.kill()
        shell.wait()
        assert is_alive(child)
    until = time.monotonic() + _SECONDS
    while is_alive(child):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_program_that_has_ended_keeps_its_exit_code() -> None:
    with ending(subprocess.Popen(["sh", "-c", "exit 3"], start_new_session=True)) as shell:
        assert shell.wait(_SECONDS) == 3
    assert shell.returncode == 3
