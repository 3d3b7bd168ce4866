"""docs/reference is what `.ci/reference.py` writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolkit.ledger.tables import metadata

pytestmark = pytest.mark.extended

ROOT = Path(__file__).resolve().parents[3]
COMMITTED = ROOT / "docs" / "reference"


def write_reference(directory: Path, **environment: str) -> dict[str, str]:
    """The pages that the generator writes, by file name."""
    command = [sys.executable, str(ROOT / ".ci" / "reference.py"), str(directory)]
    subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True, cwd=directory)
    return pages_in(directory)


def pages_in(directory: Path) -> dict[str, str]:
    """The files of a directory, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(directory.iterdir())}


def test_the_committed_reference_is_what_the_code_says_now(tmp_path: Path) -> None:
    committed = pages_in(COMMITTED)
    written = write_reference(tmp_path, PYTHONHASHSEED="1", COLUMNS="60", FORCE_COLOR="1", TZ="Asia/Kolkata")
    stale = sorted(name for name in {*committed, *written} if committed.get(name) != written.get(name))
    assert not stale, f"docs/reference is not what the code says ({', '.join(stale)}): run make docs"


def test_the_picture_of_the_ledger_has_every_table_and_every_reference() -> None:
    _, _, rest = (COMMITTED / "ledger.md").read_text(encoding="utf-8").partition("erDiagram\n")
    lines = rest.partition("```")[0].splitlines()
    assert [line.split()[0] for line in lines if line.endswith("{")] == sorted(metadata.tables)
    keys = [key for table in metadata.tables.values() for column in table.columns for key in column.foreign_keys]
    assert sum("--o{" in line for line in lines) == len(keys)
