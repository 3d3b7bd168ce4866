"""Airflow as a peer of the ledger: in a venv of its own, on the same PostgreSQL, as a process that answers rounds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.whole_process import ROOT

_HERE = Path(__file__).parent
_PINS = _HERE / "airflow.txt"
_VENV = ROOT / "build" / "peers" / "airflow"
_PYTHON = "FEEDCTL_BENCH_AIRFLOW_PYTHON"
_SECONDS = 300


class NoPeer(Exception):  # noqa: N818 - named for what was found
    """Airflow cannot be measured here; the message says why."""


class AirflowPeer:
    """The peer's process; see `airflow_runs.py` and `airflow_instances.py`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def seconds(self, what: str) -> tuple[float, ...]:
        """How long something takes, in as many figures as the peer's program tells."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        return tuple(map(float, self.answer().split()))

    def answer(self) -> str:
        """Its next line.

        Raises:
            NoPeer: it ended instead.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            message = "Airflow ended before its answer; what it wrote is above"
            raise NoPeer(message)
        return line


@contextmanager
def running_airflow(
    url: str, serving: str = "airflow_runs.py", dags: str = "dags", more: Mapping[str, str] | None = None
) -> Iterator[AirflowPeer]:
    """The peer on an empty database, with its tables made by itself.

    Args:
        url: of the database.
        serving: the program beside this file that answers.
        dags: the folder of DAGs beside this file.
        more: environment variables of the program and the DAGs.

    Raises:
        NoPeer: it could not be installed, or not be set up.
    """
    python = airflow_python()
    with tempfile.TemporaryDirectory(prefix="feedctl-airflow-") as home:
        environment = {**_environment(url, home, dags), **(more or {})}
        for command in (["db", "migrate"], ["dags", "reserialize"]):
            _quietly([python, "-m", "airflow", *command], environment)
        program = [python, str(_HERE / serving)]
        with subprocess.Popen(
            program, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            peer = AirflowPeer(process)
            assert peer.answer() == "ready\n"
            yield peer
            assert process.stdin is not None
            process.stdin.close()


def airflow_python() -> str:
    """That of the variable, else of a venv below `build`, which is made when it is not there."""
    configured = os.environ.get(_PYTHON)
    if configured:
        return configured
    python = _VENV / "bin" / "python"
    made_from = _VENV / "made-from"
    if not made_from.exists() or made_from.read_text() != _PINS.read_text():
        print(f"installing Airflow into {_VENV.relative_to(ROOT)}, once; {_PYTHON} names another Python that has it")
        _quietly([sys.executable, "-m", "venv", "--clear", str(_VENV)])
        _quietly([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(_PINS)])
        made_from.write_text(_PINS.read_text())
    return str(python)


def _environment(url: str, home: str, dags: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "AIRFLOW_HOME": home,
        "AIRFLOW__CORE__DAGS_FOLDER": str(_HERE / dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": url,
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _quietly(command: list[str], environment: dict[str, str] | None = None) -> None:
    try:
        subprocess.run(
            command,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
        )
    except subprocess.CalledProcessError as error:
        message = f"`{' '.join(command)}` failed:\n{error.stdout[-2000:]}"
        raise NoPeer(message) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"`{' '.join(command)}`: {error}"
        raise NoPeer(message) from error
