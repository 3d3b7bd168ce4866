"""The packed environment as a worker uses it: unpacked somewhere, on a machine that has Python and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.e2e.packed_env import BASE_PYTHON, bare_environment, packed_archive, unpacked
from toolkit import __version__

pytestmark = [pytest.mark.slow, pytest.mark.extended]

ORIGINS = """\
import importlib, json, sys
names = ["toolkit", "hdfs_native", "hdfs", "botocore.session", "sqlalchemy", "psycopg", "yaml", "tzdata"]
names += ["google.auth", "azure.identity"]
found = {name: importlib.import_module(name).__file__ for name in names}
json.dump({"found": found, "prefix": sys.prefix, "path": sys.path}, sys.stdout)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the unpacked archive; its name has a space in it."""
    return unpacked(packed_archive(), tmp_path_factory.mktemp("node") / "the environment")


def start(home: Path, program: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A program of the archive."""
    command, cwd = [str(home / "bin" / program), *arguments], home.parent
    env = bare_environment(**more)
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=60)


def test_it_runs_the_command(home: Path) -> None:
    done = start(home, "feedctl", "--version")
    assert (done.returncode, done.stdout) == (0, f"feedctl {__version__}\n"), done.stderr


def test_it_has_the_entrypoints_and_the_template(home: Path, tmp_path: Path) -> None:
    script = start(home, "feedctl", "entrypoint", "retention").stdout.strip()
    assert Path(script).is_relative_to(home)
    assert "--feed" in start(home, "python", script, "--help").stdout
    assert start(home, "feedctl", "init", str(tmp_path / "mine")).returncode == 0
    assert start(home, "feedctl", "lint", "--config-repo", str(tmp_path / "mine")).returncode == 0


def test_everything_comes_from_inside_and_pyspark_does_not(home: Path) -> None:
    done = start(home, "python", "-P", "-c", ORIGINS)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert [name for name, file in seen["found"].items() if not Path(file).is_relative_to(home)] == []
    assert not (home / "lib" / "pyspark").exists()
    assert seen["prefix"] == str(BASE_PYTHON.parent.parent)
    assert [place for place in seen["path"] if Path(place).is_relative_to(ROOT)] == []


def test_what_the_job_adds_to_the_path_stays_on_it(home: Path) -> None:
    done = start(home, "python", "-P", "-c", "import sys; print(sys.path[:2])", PYTHONPATH="/spark/pyspark.zip")
    assert done.stdout == f"{[str(home / 'lib'), '/spark/pyspark.zip']}\n"


def test_it_is_small_enough_to_be_sent_to_every_node(home: Path) -> None:
    assert packed_archive().stat().st_size < 50_000_000
    assert sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) < 155_000_000


def test_a_link_to_its_programs_works(home: Path, tmp_path: Path) -> None:
    for name in ("feedctl", "python"):
        (tmp_path / name).symlink_to(home / "bin" / name)
    done = subprocess.run(
        [tmp_path / "feedctl", "--version"], env=bare_environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == f"feedctl {__version__}\n", done.stderr


UNFIT = [
    pytest.param("version=", "version=3.99", "needs CPython 3.99", "cpython 3.", id="version"),
    pytest.param("machine=", "machine=sparc64", "on Linux sparc64", "Linux on ", id="architecture"),
    pytest.param("glibc=", "glibc=9.1", "with glibc 9.1 or newer", "glibc 2.", id="C library"),
]


@pytest.mark.parametrize(("setting", "value", "wanted", "found"), UNFIT)
def test_a_machine_that_it_was_not_built_for_says_what_it_has_and_what_to_do(
    home: Path, tmp_path: Path, setting: str, value: str, wanted: str, found: str
) -> None:
    launcher = tmp_path / "bin" / "python"
    launcher.parent.mkdir()
    lines = (home / "bin" / "python").read_text().splitlines()
    (built_for,) = (line for line in lines if line.startswith("archive="))
    (old,) = (part for part in built_for.split() if part.startswith(setting))
    launcher.write_text("\n".join(lines).replace(old, value) + "\n")
    launcher.chmod(0o755)
    done = start(tmp_path, "python", "-c", "print(1)")
    assert (done.returncode, done.stdout) == (1, "")
    assert wanted in done.stderr
    assert f"{BASE_PYTHON}: " in done.stderr
    assert found in done.stderr.partition("found")[2]
    assert "FEEDCTL_PYTHON" in done.stderr


@pytest.mark.parametrize("python", ["/nonexistent/python", "/bin/true", "/bin/false"])
def test_what_is_no_python_is_not_started(home: Path, python: str) -> None:
    done = start(home, "python", "-c", "print(1)", FEEDCTL_PYTHON=python)
    assert (done.returncode, done.stdout) == (1, "")
    assert python in done.stderr


def test_it_never_starts_itself(home: Path) -> None:
    done = start(home, "python", "-c", "print(1)", FEEDCTL_PYTHON=str(home / "bin" / "python"))
    assert done.returncode == 1


def test_a_folder_that_pythonpath_cannot_name_is_refused(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "bin", tmp_path / "a:b" / "bin")
    done = start(tmp_path / "a:b", "python", "-c", "print(1)")
    assert (done.returncode, done.stdout) == (1, "")
    assert "unpack it elsewhere" in done.stderr
