"""Child process that reads the lineage of scripts: no script can hold or fill the process of the run.

One child serves all scripts of a run, since loading sqlglot costs more than most scripts. It forks for each: processor
time and memory are limited for one script, and what one leaves behind is gone with its process.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import cache
from typing import Any, NoReturn

from toolkit.foreign_json import BadJson, parse_json
from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage
from toolkit.ledger.vocabulary import LineageRelationKind
from toolkit.lineage.columns import Schemas

CPU_SECONDS = 20
"""Processor time of a script."""
_MEMORY = 2 << 30
_MOST_BYTES, _CHUNK = 64 << 20, 1 << 16
_END_SECONDS = 1.0
MOST_RELATIONS = 20_000
"""Limit of the relations of one step; the lineage of a step with more is unknown."""


def script_lineage(
    statements: Sequence[tuple[str, str]], schemas: Schemas, timeout: float
) -> tuple[StatementLineage, ...]:
    """Return the lineage of a script, read by a child process.

    Args:
        statements: of the script, each with the text that is kept of it.
        schemas: columns of tables.
        timeout: seconds.
    """
    given = {"statements": statements, "schemas": asdict(schemas)}
    try:
        answer = script_reader().read(json.dumps(given).encode(), timeout)
        found = parse_json(answer, most_bytes=_MOST_BYTES)
    except (OSError, BadJson) as error:
        why = f"it was not read within {CPU_SECONDS} seconds of processor time and {_MEMORY >> 30} GiB ({error})"
        return (StatementLineage.of("UNKNOWN", "", unknown=why[:500]),)
    return tuple(_statement(*each) for each in found) if isinstance(found, list) else ()


class ScriptReaderProcess:
    """Child that reads one script after the other; it ends with this process, and after an error of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, request: bytes, timeout: float) -> bytes:
        """Return the answer to a line of JSON.

        Raises:
            OSError: there is none in so many seconds, or the process of the script has ended.
        """
        latest = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            message = "other scripts are read"
            raise TimeoutError(message)
        with ExitStack() as stack:
            stack.callback(self._lock.release)
            on_error = stack.enter_context(ExitStack())
            on_error.callback(self._kill)
            process = self._running()
            if process.stdin is None or process.stdout is None:
                raise BrokenPipeError
            process.stdin.write(request + b"\n")
            process.stdin.flush()
            answer = _line(process.stdout.fileno(), latest)
            on_error.pop_all()
        if not answer:
            message = "its process has ended"
            raise ChildProcessError(message)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            # -P: others may write to the working directory, whose modules are not loaded
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a module of ours
                [sys.executable, "-P", "-X", "utf8", "-m", __name__],
                env={"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # its scripts are killed with it
            )
        return self._process

    def end(self) -> None:
        """End the child, if there is one."""
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                with suppress(OSError):
                    self._process.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_END_SECONDS)
            self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for each in (process.stdin, process.stdout):
                if each is not None:
                    with suppress(OSError):
                        each.close()


def _line(descriptor: int, latest: float) -> bytes:
    """Return a line without its end; empty: the script's process has ended.

    Raises:
        OSError: the line does not come in time, or is too long.
    """
    ear, found = select.poll(), bytearray()  # `select` cannot look at a process's thousandth file
    ear.register(descriptor, select.POLLIN)
    while not found.endswith(b"\n"):
        if not ear.poll(max(0.0, latest - time.monotonic()) * 1000):
            message = "it takes too long"
            raise TimeoutError(message)
        piece = os.read(descriptor, _CHUNK)
        found += piece
        if not piece or len(found) > _MOST_BYTES:
            message = "its process has ended" if not piece else "its lineage is too long"
            raise ChildProcessError(message)
    return bytes(found[:-1])


@cache
def script_reader() -> ScriptReaderProcess:
    """Return the child of this process."""
    reader = ScriptReaderProcess()
    atexit.register(reader.end)
    return reader


def _statement(kind: str, text: str, unknown: str, relations: list[list[str]]) -> StatementLineage:
    return StatementLineage.of(kind, text, [_relation(*each) for each in relations], unknown)


def _relation(kind: str, *names: str) -> ColumnRelation:
    ends = [LineageNode(table=names[at], column=names[at + 1], function=names[at + 2]) for at in (0, 3)]
    return ColumnRelation(source=ends[0], target=ends[1], kind=LineageRelationKind(kind))


def main() -> int:
    """Read scripts from standard input, a line each, and write a line for each: its lineage, or nothing."""
    from toolkit.lineage import statements  # noqa: F401, PLC0415 - sqlglot is optional; each fork has it loaded

    for request in sys.stdin.buffer:
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receiving)
            _answer(request, sending)
        os.close(sending)
        with os.fdopen(receiving, "rb") as answer:
            found = answer.read()
        os.waitpid(child, 0)
        sys.stdout.buffer.write((found if found.endswith(b"\n") else b"") or b"\n")
        sys.stdout.buffer.flush()
    return 0


def _answer(request: bytes, sending: int) -> NoReturn:
    """Write the lineage of a script, and end this process, whatever happens."""
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        with os.fdopen(sending, "wb") as answer:
            answer.write(json.dumps(_read(json.loads(request))).encode() + b"\n")
        code = 0
    finally:
        os._exit(code)


def _read(given: dict[str, Any]) -> list[list[object]]:
    from toolkit.lineage.statements import ScriptReader  # noqa: PLC0415 - sqlglot is optional

    script = ScriptReader(schemas=Schemas(**given["schemas"]))
    read = [script.read(text, source) for text, source in given["statements"]]
    found = [each for each in read if each is not None]
    if sum(len(each.relations) for each in found) > MOST_RELATIONS:
        found = [StatementLineage.of("UNKNOWN", "", unknown=f"it has over {MOST_RELATIONS:,} relations")]
    return [_row(each) for each in found]


def _row(found: StatementLineage) -> list[object]:
    relations = [
        [each.kind, *(name for node in (each.source, each.target) for name in (node.table, node.column, node.function))]
        for each in found.relations
    ]
    return [found.type, found.text, found.unknown, relations]


if __name__ == "__main__":
    sys.exit(main())
