"""Spark's Python workers are forked from a daemon; a test bed that never forks would not show what they meet."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.file_system.stores import Store
from toolkit.el import CanonicalPath

pytestmark = [pytest.mark.slow, pytest.mark.extended]

_ROOT = Path(__file__).parents[3]
_CHILDREN = 8
_SECONDS = 60
_FORKING = """
import os, pickle, sys
from toolkit.storage import open_file_system
from toolkit.storage.local import no_check

spec, path = pickle.load(sys.stdin.buffer)
system = open_file_system(spec, read_only=True, before_effect=no_check)
system.status(path)
child = os.fork()
if child:
    sys.exit(os.waitpid(child, 0)[1])
system.status(path)
"""


def _delete(store: Store, path: CanonicalPath) -> None:
    gc.collect()
    store.system.delete(path, below=store.base)


def test_an_adapter_works_on_in_forked_processes(store: Store) -> None:
    forking = multiprocessing.get_context("fork")
    paths = [store.put(f"file-{number}") for number in range(_CHILDREN)]
    children = [forking.Process(target=_delete, args=(store, path), daemon=True) for path in paths]
    for child in children:
        child.start()
    for child in children:
        child.join(_SECONDS)
    assert [child.exitcode for child in children] == [0] * _CHILDREN
    assert store.names() == []


def test_a_forked_process_ends_as_any_other(store: Store) -> None:
    """Without waiting for threads that only its parent has."""
    given = pickle.dumps((store.spec, store.put("file")))
    command = [sys.executable, "-c", _FORKING]
    done = subprocess.run(command, input=given, cwd=_ROOT, env=dict(os.environ), check=False, timeout=_SECONDS)
    assert done.returncode == 0
