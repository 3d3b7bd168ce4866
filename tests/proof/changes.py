"""Places in the toolkit's source that can change data, found by its syntax, and a watch over changes as they happen."""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import ROOT
from toolkit.actions.batch_loop import BatchLoop
from toolkit.actions.target_run import TargetRun
from toolkit.storage.local.file_system import LocalFileSystem

READS = {"acl", "capabilities", "checksum", "close", "content_summary", "list", "list_tree", "read", "status", "xattrs"}
READS_OF_METASTORE = {
    *("close", "database_location", "databases", "directories", "partition_names", "partitions"),
    *("events", "last_event", "table", "tables", "version"),
}
_DELIVERY = "toolkit/cli/delivery.py"
_REMOVALS = {"removedirs", "rmdir", "rmtree", "unlink"}
_REMOVALS_OF_OS = {"remove", "rename", "renames", "replace"}
_OPENERS = {"bound", "open_catalog", "open_file_system", "open_metastore"}


def public(port: type) -> set[str]:
    """Return the names of a port's methods."""
    return {name for name in dir(port) if not name.startswith("_")}


def sources() -> dict[str, str]:
    """Return the source of each module of the toolkit and of each entrypoint."""
    files = [*(ROOT / "toolkit").rglob("*.py"), *(ROOT / "entrypoints").glob("*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def calls_of(modules: Mapping[str, str], names: set[str]) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield module, call and name for calls of these names, as a method or a function."""
    for module, source in modules.items():
        if not any(name in source for name in names):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and (name := _name(node.func)) in names:
                yield module, node, name


def _name(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def changing(modules: Mapping[str, str], names: set[str]) -> set[str]:
    """Return the modules that call a method of a store or metastore that changes data.

    Files, ledgers and paths have a `write`, `rename` or `delete` as well, which take other arguments.
    """
    return {module for module, call, name in calls_of(modules, names) if _is_of_a_port(call, name)}


def _is_of_a_port(call: ast.Call, name: str) -> bool:
    keywords = {each.arg for each in call.keywords}
    if isinstance(call.func, ast.Name) or ast.unparse(call.func).startswith("os."):
        return False
    if name == "delete":
        return "below" in keywords
    return len(call.args) + len(keywords) > 1 if name in {"write", "rename"} else True


def removing_files(modules: Mapping[str, str]) -> set[str]:
    """Return the modules that remove or rename files of this machine without a store."""
    found = set()
    for module, call, name in calls_of(modules, _REMOVALS | _REMOVALS_OF_OS):
        if name in _REMOVALS or ast.unparse(call.func).startswith("os."):
            found.add(module)
    return found


def opening_for_changes(modules: Mapping[str, str]) -> set[str]:
    """Return the modules that open a store or a metastore, at once or by a `partial`, and not only for reading."""
    found = set()
    for module, call, name in calls_of(modules, {*_OPENERS, "partial"}):
        opened = _name(call.args[0]) if name == "partial" else name
        if opened in _OPENERS and not _is_for_reading(call):
            found.add(module)
    return found


def _is_for_reading(call: ast.Call) -> bool:
    values = [each.value for each in call.keywords if each.arg == "read_only"]
    return any(isinstance(each, ast.Constant) and each.value is True for each in values)


@contextmanager
def only_actions_change_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record each change on a local disk; one outside a batch or a recovery fails the test at the end.

    A result file is no data: the user names it, and it is written after the run.
    """
    lock, at_work, changes, outside = threading.Lock(), [0], list[str](), list[str]()

    def working(inner: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - any method
            with lock:
                at_work[0] += 1
            try:
                return inner(*arguments, **options)
            finally:
                with lock:
                    at_work[0] -= 1

        return call

    def watched(name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - any method
            if not _is_delivery():
                changes.append(name)
                if not at_work[0]:
                    outside.append(f"{name} of {arguments[1]}")
            return inner(*arguments, **options)

        return call

    monkeypatch.setattr(BatchLoop, "_applied", working(BatchLoop._applied))  # noqa: SLF001 - where the kernel calls it
    monkeypatch.setattr(TargetRun, "_recovered", working(TargetRun._recovered))  # noqa: SLF001 - the same
    for name in public(LocalFileSystem) - READS - {"bound"}:
        monkeypatch.setattr(LocalFileSystem, name, watched(name, getattr(LocalFileSystem, name)))
    yield changes
    assert outside == [], "data may be changed in a batch or a recovery of an Action only"


def _is_delivery() -> bool:
    frame = sys._getframe()  # noqa: SLF001 - the way to the callers
    while frame.f_back is not None:
        frame = frame.f_back
        if Path(frame.f_code.co_filename).as_posix().endswith(_DELIVERY):
            return True
    return False
