"""What all tests share: a Java for those that start Spark, a PostgreSQL, and how property tests run."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.databases.postgresql import PostgresServer, running_postgres
from tests.databases.postgresql_programs import NoServerPrograms, PostgresPrograms
from tests.testbed.hdfs_server import OF_NAMENODES
from tests.testbed.quick_spark import quick_spark

pytest_plugins = [  # loaded here, for all tests
    "tests.databases.datasources",
    "tests.databases.ledgers",
    "tests.testbed.fixtures",
]

# A slow machine is no fault of the code: how long an example takes is nowhere a test.
settings.register_profile("quick", deadline=None, print_blob=True, max_examples=25)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=50)  # of `make test-all`
settings.register_profile("whole", deadline=None, print_blob=True, max_examples=100)  # of `make soak`
settings.load_profile("quick")

# A shell that starts the tests in the background has them ignore Ctrl-C, and every process that they start as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Most Sparks of the tests live for seconds, and a NameNode for minutes.
for _name, _value in {**quick_spark(), OF_NAMENODES: "-XX:TieredStopAtLevel=1"}.items():
    os.environ.setdefault(_name, _value)

_LONG_FIRST = ("docs", "e2e", "loss", "soak", "integration", "golden", "contract")
"""Directories of tests by how long a file of theirs takes; all others come after them."""

FIND_JAVA = Path(__file__).resolve().parents[1] / ".ci" / "java-home"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from ten thousand tests and their code, which stay: it took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long: with short ones last, no worker waits long for the other's end."""
    ranks = {name: rank for rank, name in enumerate(_LONG_FIRST)}
    items.sort(key=lambda item: ranks.get(item.nodeid.split("/", 2)[1], len(ranks)))


@pytest.fixture(scope="session")
def java_home() -> Path:
    """The home of a Java that Spark can use; a machine without one skips the tests that ask for it."""
    found = subprocess.run([FIND_JAVA], capture_output=True, text=True, check=False, timeout=60)
    if found.returncode:
        pytest.skip(found.stderr.strip())
    return Path(found.stdout.strip())


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL of this worker's own, started for the first test that asks; make a database and leave it running.

    A machine without PostgreSQL skips the tests that ask for it, except in CI, where they must run.
    """
    try:
        PostgresPrograms.found()
    except NoServerPrograms as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    with running_postgres() as server:
        yield server
