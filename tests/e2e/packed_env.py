"""The packed environment, built once for each state of the sources, and unpacked as Spark does it."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.e2e.commands import ROOT, run

BASE_PYTHON = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
"""The Python that .venv was made from: it has nothing installed that feedctl needs."""
_BUILT = ROOT / "build" / "packed-env"
_TEMPLATES = ("config_repo_minimal", "config_repo_template")
_PARTS = ("toolkit", "entrypoints", *_TEMPLATES, ".ci/packed", ".ci/packed_env.py", "requirements/dist.lock")


@cache
def packed_archive() -> Path:
    """The archive; building it takes half a minute, so that it is kept until a source changes."""
    place = _BUILT / _digest()
    place.mkdir(parents=True, exist_ok=True)
    with (_BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(place.glob("*.tar.gz")):
            _forget_others(place)
            run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT, cwd=place)
            run(sys.executable, ROOT / ".ci" / "packed_env.py", place, cwd=place, env={"PYTHONPATH": str(ROOT)})
    (archive,) = place.glob("*.tar.gz")
    return archive


def unpacked(archive: Path, home: Path) -> Path:
    """A new folder with what is in the archive."""
    home.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", archive, "-C", home], check=True)
    return home


def bare_environment(**more: str) -> dict[str, str]:
    """That of a machine that knows nothing of this checkout, with the Python that is to be found on it."""
    return {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "FEEDCTL_PYTHON": str(BASE_PYTHON), **more}


def _digest() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in _sources():
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    for part in _PARTS:
        place = ROOT / part
        files = place.rglob("*") if place.is_dir() else [place]
        yield from sorted(each for each in files if each.is_file() and "__pycache__" not in each.parts)


def _forget_others(place: Path) -> None:
    """Archives of sources that are no more."""
    for old in _BUILT.iterdir():
        if old.is_dir() and old != place:
            shutil.rmtree(old)
