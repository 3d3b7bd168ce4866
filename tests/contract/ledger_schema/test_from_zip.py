"""A ledger is upgraded also where toolkit is a zip, as spark-submit --py-files has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolkit.ledger.schema_version import HEAD

pytestmark = pytest.mark.extended

_ROOT = Path(__file__).resolve().parents[3]


def test_the_zip_for_spark_submit_upgrades_a_ledger(tmp_path: Path) -> None:
    made = [sys.executable, str(_ROOT / ".ci" / "pyfiles.py"), str(tmp_path)]
    subprocess.run(made, env={**os.environ, "PYTHONPATH": str(_ROOT)}, check=True, timeout=60)
    (archive,) = tmp_path.glob("*.zip")
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}"
    program = "import sys, toolkit; from toolkit.cli.main import main; print(toolkit.__file__); sys.exit(main())"
    command = [sys.executable, "-c", program, "ledger", "upgrade"]
    variables = {**os.environ, "PYTHONPATH": str(archive), "FEEDCTL_LEDGER": ledger}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    place, output = done.stdout.splitlines()
    assert place.startswith(str(archive))
    assert output == f"the ledger {ledger} went from no tables to revision {HEAD}"
