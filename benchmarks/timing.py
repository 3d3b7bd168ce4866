"""Programs against the clock: processes that end well, and what they tell of themselves."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.whole_process import PROGRAMS
from tests.testbed import java

SPARK_SUBMIT = str(PROGRAMS / "spark-submit")
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of Java that the guide names for a short run."""
_EMPTY_ROUNDS = 3
_SECONDS = 3600
_MOST_CHARACTERS = 2000


class Failed(Exception):  # noqa: N818 - named for what happened
    """A contestant did not end well."""

    def __init__(self, *, command: list[str], code: int, output: str) -> None:
        super().__init__(f"{command[0]} ended with {code}; it said at last: {output[-_MOST_CHARACTERS:]}")


class TooLong(Exception):  # noqa: N818 - named for what happened
    """A contestant was ended because it took too long; `seconds` of it were seen."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"it was ended after {seconds:.0f} s")


@dataclass(frozen=True, kw_only=True, slots=True)
class Took:
    """Seconds of one run.

    Args:
        whole: of the process, from its start to its end.
        inside: of the call alone, after imports and connections; None: it does not tell.
        imports: of loading what it needs, where it tells.
        is_over: it was ended then, and would have taken longer.
    """

    whole: float
    inside: float | None = None
    imports: float | None = None
    is_over: bool = False


def timed(command: list[str], environment: Mapping[str, str], *, longest: float | None = None) -> tuple[float, str]:
    """Seconds of a process that ends well, and what it said.

    Raises:
        Failed: it did not end well.
        TooLong: it was ended after so many seconds.
    """
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS if longest is None else longest,
        )
    except subprocess.TimeoutExpired as late:
        raise TooLong(late.timeout) from late
    whole = time.perf_counter() - began
    if done.returncode:
        raise Failed(command=command, code=done.returncode, output=f"{done.stdout}{done.stderr}")
    return whole, done.stdout


def took(whole: float, output: str) -> Took:
    """The seconds of a process, with those that it told, one figure a line."""
    figures = [float(each) for each in output.split()]
    return Took(
        whole=whole,
        inside=figures[-1] if figures else None,
        imports=figures[-2] if len(figures) > 1 else None,
    )


def spark_submit_seconds(folder: Path, *, quick: bool = False) -> float:
    """What spark-submit takes for a script that does nothing, with a quick JVM or not: the median of three."""
    empty = folder / "empty.py"
    empty.touch()
    environment = quick_spark_environment() if quick else spark_environment()
    return median(timed([SPARK_SUBMIT, str(empty)], environment)[0] for _ in range(_EMPTY_ROUNDS))


def spark_environment() -> dict[str, str]:
    """What spark-submit needs beside what there is."""
    return {
        "JAVA_HOME": str(java.java_home()),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def quick_spark_environment() -> dict[str, str]:
    """Both of spark-submit's JVMs."""
    return {**spark_environment(), "SPARK_SUBMIT_OPTS": " ".join(QUICK_JVM), "SPARK_LAUNCHER_OPTS": " ".join(QUICK_JVM)}
