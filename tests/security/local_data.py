"""Data on the local disk that the tests of this folder attack."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolkit.el import CanonicalPath


def place(path: Path) -> CanonicalPath:
    """The path as feedctl names it."""
    return CanonicalPath("file", "", str(path))


def tree(root: Path, *files: str) -> Path:
    """A directory with files below it."""
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def files_below(root: Path) -> list[str]:
    """Return what is left of it."""
    return sorted(str(each.relative_to(root)) for each in root.rglob("*") if each.is_file())


@contextmanager
def bind_mounted(source: Path, target: Path, root: Path) -> Iterator[None]:
    """The source also at the target, and wherever below the root that is moved to; skips where nobody may mount."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    if subprocess.run(["mount", "--bind", source, target], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        subprocess.run(["umount", *(each for each in mounts if each.startswith(f"{root}/"))], check=True)
