"""How the packed environment is put together; `tests/e2e/test_packed_env.py` uses the real one."""

from __future__ import annotations

import importlib.util
import os
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.e2e.commands import ROOT

pytestmark = pytest.mark.extended


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packed_env", ROOT / ".ci" / "packed_env.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PACKED_ENV = _loaded()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small environment."""
    made = tmp_path / "home"
    files = {
        "bin/python": "#!/bin/sh\n",
        "lib/b/__init__.py": "x = 1\n",
        "lib/a.py": "y = 2\n",
        "lib/a-1.dist-info/RECORD": "a.py,,\n",
        "lib/a-1.dist-info/METADATA": "Name: a\n",
        "lib/a-1.dist-info/WHEEL": "Tag: cp311-cp311-manylinux_2_17_x86_64.manylinux_2_28_x86_64\n",
        "lib/b-1.dist-info/WHEEL": "Tag: cp311-cp311-manylinux_2_24_x86_64\n",
        "lib/c-1.dist-info/WHEEL": "Tag: py3-none-any\n",
        "lib/bin/a": "#!/this/machine/python\n",
        "lib/b/tests/test_b.py": "z = 3\n",
        "lib/botocore/data/endpoints.json": "{}",
        "lib/botocore/data/s3/2006-03-01/service-2.json": "{}",
        "lib/botocore/data/ec2/2016-11-15/service-2.json": "{}",
    }
    for name, text in files.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


def test_the_same_files_are_the_same_bytes_whenever_they_were_made(home: Path, tmp_path: Path) -> None:
    archives = [tmp_path / "first.tar.gz", tmp_path / "second.tar.gz"]
    for number, archive in enumerate(archives):
        for path in home.rglob("*"):
            os.utime(path, (number, number))
        PACKED_ENV.pack(home, archive)
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_entries_are_sorted_belong_to_nobody_and_only_programs_can_be_started(home: Path, tmp_path: Path) -> None:
    PACKED_ENV.pack(home, tmp_path / "env.tar.gz")
    with tarfile.open(tmp_path / "env.tar.gz") as tar:
        entries = tar.getmembers()
    names = [entry.name for entry in entries]
    assert names == sorted(names, key=lambda name: name.split("/"))
    assert {(entry.uid, entry.uname, entry.mtime) for entry in entries} == {(0, "", 315532800)}
    assert [entry.name for entry in entries if entry.isfile() and entry.mode & 0o111] == ["bin/python"]


def test_byte_code_is_the_same_bytes_in_whatever_folder_it_was_made(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "lib"
    other.mkdir(parents=True)
    (other / "a.py").write_text("y = 2\n")
    for lib in (home / "lib", other):
        PACKED_ENV.compile_all(lib)
    first, second = (next((lib / "__pycache__").glob("a.*")).read_bytes() for lib in (home / "lib", other))
    assert first == second
    assert first[4:8] == bytes([1, 0, 0, 0])  # by a hash that nobody looks at, not by time


def test_what_no_run_needs_and_what_tells_of_this_machine_goes(home: Path) -> None:
    PACKED_ENV.prune(home / "lib")
    lib = home / "lib"
    assert sorted(str(path.relative_to(lib)) for path in lib.rglob("*") if path.is_file()) == [
        "a-1.dist-info/METADATA",
        "a-1.dist-info/WHEEL",
        "a.py",
        "b-1.dist-info/WHEEL",
        "b/__init__.py",
        "botocore/data/endpoints.json",
        "botocore/data/s3/2006-03-01/service-2.json",
        "c-1.dist-info/WHEEL",
    ]


def test_the_glibc_that_is_needed_is_that_of_the_wheel_that_needs_the_newest(home: Path, tmp_path: Path) -> None:
    assert PACKED_ENV.needed_glibc(home / "lib") == "2.24"
    assert PACKED_ENV.needed_glibc(tmp_path) == "none"
