"""A SQLite ledger in a folder that two users may write: nobody else than its owner opens it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from tests.testbed.running import ending

_ROOT = Path(__file__).resolve().parents[3]
_TO_BE_KILLED_AFTER = 120
ROOT, OWNER, OTHER = 0, 12345, 65534
OFTEN = "20"

pytestmark = pytest.mark.skipif(os.geteuid() != ROOT, reason="only root can be two other users")


def start(user: int, work: str, file: Path, *arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.contract.ledger.user_work", str(user), work, str(file), *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return ending(subprocess.Popen(command, cwd=_ROOT, text=True, **streams))  # type: ignore[call-overload]


def ended(process: subprocess.Popen[str]) -> str:
    """Return what a process said; it must have succeeded."""
    out, err = process.communicate(timeout=_TO_BE_KILLED_AFTER)
    assert process.returncode == 0, err
    return out


def run(user: int, work: str, file: Path, *arguments: str) -> str:
    with start(user, work, file, *arguments) as process:
        return ended(process)


def refused(user: int, work: str, file: Path) -> str:
    with start(user, work, file) as process:
        out, err = process.communicate(timeout=_TO_BE_KILLED_AFTER)
    assert (process.returncode, out) == (1, ""), err
    return err


def files(file: Path) -> dict[str, int]:
    """Return what is in the ledger's folder, and whose it is."""
    return {each.name: each.stat().st_uid for each in file.parent.iterdir()}


@pytest.fixture
def file() -> Iterator[Path]:
    """A ledger with rows that belongs to `OWNER` and that all may read, in a folder that everyone may write."""
    folder = Path(tempfile.mkdtemp(prefix="feedctl-users-", dir="/tmp"))
    folder.chmod(0o777)
    run(OWNER, "write", folder / "ledger.db")
    (folder / "ledger.db").chmod(0o644)
    yield folder / "ledger.db"
    shutil.rmtree(folder)


@pytest.mark.parametrize("work", ["read", pytest.param("write", marks=pytest.mark.extended)])
def test_another_user_is_refused_before_anything_is_made(file: Path, work: str) -> None:
    output = refused(OTHER, work, file)
    assert f"nobody, may not write {file} (of user {OWNER}, mode 644)" in output
    assert "run as the user whose ledger it is" in output
    assert files(file) == {"ledger.db": OWNER}


@pytest.mark.extended
def test_the_owner_reads_and_writes_on_after_a_kill(file: Path) -> None:
    run(OWNER, "write_and_be_killed", file)
    assert files(file) == dict.fromkeys(("ledger.db", "ledger.db-wal", "ledger.db-shm"), OWNER)
    assert run(OWNER, "read", file) == "4\n"
    run(OWNER, "write", file)
    assert (run(OWNER, "read", file), files(file)) == ("6\n", {"ledger.db": OWNER})


@pytest.mark.extended
def test_files_of_another_user_beside_the_ledger_are_named_with_what_to_do(file: Path) -> None:
    beside = [file.with_name(f"ledger.db-{each}") for each in ("wal", "shm")]
    for each in beside:
        each.touch(mode=0o644)
        os.chown(each, OTHER, OTHER)
    output = refused(OWNER, "write", file)
    for each in beside:
        assert f"{each} (of nobody, mode 644)" in output
    assert "run `feedctl ledger upgrade` as a user who may write all of them, such as root" in output
    run(ROOT, "upgrade", file)
    assert files(file) == {"ledger.db": OWNER}
    run(OWNER, "write", file)


@pytest.mark.extended
def test_rows_in_files_of_another_user_are_not_to_be_removed(file: Path) -> None:
    run(OWNER, "write_and_be_killed", file)
    os.chown(file.with_name("ledger.db-wal"), OTHER, OTHER)
    output = refused(OWNER, "write", file)
    assert "feedctl ledger upgrade" in output
    run(ROOT, "upgrade", file)
    assert run(OWNER, "read", file) == "4\n"


@pytest.mark.extended
def test_while_runs_of_the_owner_come_and_go_readers_miss_nothing_and_are_in_nobodys_way(file: Path) -> None:
    reported = file.with_name("committed")
    reported.write_text("0")
    os.chown(reported, OWNER, OWNER)
    with ExitStack() as stack:
        readers = [stack.enter_context(start(user, "read_often", file, OFTEN)) for user in (OWNER, OWNER)]
        for each in readers:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        run(OWNER, "write_often", file, OFTEN)
        for each in readers:
            assert int(ended(each)) > 1
    assert set(files(file).values()) == {OWNER}
    run(OWNER, "write", file)
