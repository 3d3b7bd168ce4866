"""Writes DIRECTORY/feedctl-VERSION-env-PYTHON-PLATFORM.tar.gz: feedctl and all it needs, for machines without either.

bin/python starts the machine's own Python of that version with lib/ before everything else; nothing in the archive
knows where it lies. pyspark is not in it: the cluster brings its own. The packages are those of requirements/dist.lock,
checked by their hashes. The same sources and Python give the same bytes: names are sorted, times, modes and owners are
fixed.
"""

from __future__ import annotations

import compileall
import gzip
import io
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from toolkit import __version__

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "dist.lock"
LAUNCHERS = ROOT / ".ci" / "packed"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
PLATFORM = re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())
NAME = f"feedctl-{__version__}-env-cp{PYTHON.replace('.', '')}-{PLATFORM}"

OF_THIS_MACHINE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""What pip writes down about an installation; nothing needs it when the packages run."""
AWS_MODELS = frozenset({"s3", "sts", "sso", "sso-oidc", "signin"})
"""Of the 440 services that botocore describes: the one that feedctl uses, and those that credentials come from."""
OLDEST_TIME = 315532800  # 1980-01-01, as in the zip


def install(lib: Path, wheel: Path) -> None:
    """The locked packages, then feedctl from its wheel."""
    pip_install(lib, "--require-hashes", "--no-build-isolation", "-r", LOCK)
    pip_install(lib, "--no-index", wheel)


def pip_install(lib: Path, *what: str | Path) -> None:
    """Install into the folder, with nothing but what is named."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "install", "--upgrade", "--no-deps", "--no-compile", "--target", lib, *what]
    subprocess.run(command, check=True)  # noqa: S603 - the pip of this environment


def prune(lib: Path) -> None:
    """Take out what no run needs, and what pip noted about this machine."""
    for name in ("bin", "include"):  # scripts that start the Python of this machine, headers
        shutil.rmtree(lib / name, ignore_errors=True)
    for folder in lib.glob("*/tests"):
        shutil.rmtree(folder)
    for name in OF_THIS_MACHINE:
        for file in lib.glob(f"*.dist-info/{name}"):
            file.unlink()
    for folder in (lib / "botocore" / "data").iterdir():
        if folder.is_dir() and folder.name not in AWS_MODELS:
            shutil.rmtree(folder)


def compile_all(lib: Path) -> None:
    """Byte code that does not look at the times of its sources: an executor starts in half the time."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(lib, quiet=2, stripdir=str(lib), invalidation_mode=mode)


def needed_glibc(lib: Path) -> str:
    """The oldest glibc that all wheels run on; ``none`` where they do not say."""
    needed = [tags for file in lib.glob("*.dist-info/WHEEL") if (tags := _glibc_tags(file.read_text()))]
    newest = max((min(tags) for tags in needed), default=None)
    return "none" if newest is None else ".".join(map(str, newest))


def _glibc_tags(wheel: str) -> list[tuple[int, int]]:
    return [(int(major), int(minor)) for major, minor in re.findall(r"manylinux_(\d+)_(\d+)_", wheel)]


def write_launchers(home: Path) -> None:
    """bin/python and bin/feedctl, which know what the packages were built for."""
    here = os.uname()
    values = {"ARCHIVE": NAME, "PYTHON": PYTHON + sys.abiflags, "SYSTEM": here.sysname, "MACHINE": here.machine}
    values["GLIBC"] = needed_glibc(home / "lib")
    (home / "bin").mkdir()
    for template in LAUNCHERS.iterdir():
        text = re.sub("@([A-Z]+)@", lambda match: values[match[1]], template.read_text())
        (home / "bin" / template.name).write_text(text)


def entries(home: Path) -> Iterator[tarfile.TarInfo]:
    """One for each folder and file, sorted, with nothing of this machine in it."""
    for path in sorted(home.rglob("*")):
        entry = tarfile.TarInfo(path.relative_to(home).as_posix())
        entry.mtime, entry.mode = OLDEST_TIME, 0o644
        if path.is_dir():
            entry.type = tarfile.DIRTYPE
        else:
            entry.size = path.stat().st_size
        if path.is_dir() or path.parent == home / "bin":
            entry.mode = 0o755
        yield entry


def pack(home: Path, archive: Path) -> None:
    """The archive; its content lies at the top, since Spark names the folder that it unpacks it into."""
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for entry in entries(home):
            content = b"" if entry.isdir() else (home / entry.name).read_bytes()
            tar.addfile(entry, io.BytesIO(content))


def main(directory: Path) -> int:
    """Writes the archive, with the wheel that lies in the directory."""
    (wheel,) = directory.glob(f"feedctl-{__version__}-*.whl")
    with tempfile.TemporaryDirectory(prefix="feedctl-env-") as scratch:
        home = Path(scratch)
        install(home / "lib", wheel.resolve())
        prune(home / "lib")
        compile_all(home / "lib")
        write_launchers(home)
        pack(home, directory / f"{NAME}.tar.gz")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
