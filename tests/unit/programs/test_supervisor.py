"""Tests of what the supervisor of a step costs before the step begins."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

SLOW = {"json", "re", "typing", "enum", "signal", "pathlib", "subprocess", "collections.abc"}


def test_a_supervisor_loads_no_module_that_takes_as_long_as_python_itself() -> None:
    source = files("toolkit.programs") / "supervisor.py"
    code = f"import sys\nexec(open({str(source)!r}).read(), {{'__name__': 'loaded'}})\nprint(*sys.modules)"
    found = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert SLOW.isdisjoint(found.stdout.split())
