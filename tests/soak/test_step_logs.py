"""A step that says a gigabyte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.programs.calls import a_call, a_script, never
from toolkit.programs.command import CommandEngine
from toolkit.programs.step_log import last_line

pytestmark = pytest.mark.soak

_KEPT_BYTES = 64 << 20


def test_a_gigabyte_of_log_takes_sixty_four_megabytes_and_does_not_end_the_step(tmp_path: Path) -> None:
    script = a_script(
        tmp_path, "echo begin; yes 'a line of some length, again and again' | head -c 1073741824; echo; echo end"
    )
    call = a_call(tmp_path, script)

    end = CommandEngine().run(call, lambda _mark: None, never)

    assert end.succeeded
    assert sum(each.stat().st_size for each in (call.log, *call.log.parent.glob("*.log.[0-9]*"))) <= _KEPT_BYTES
    with call.log.open() as log:
        assert log.readline() == "begin\n"
    assert last_line(call.log) == "end"
