"""Validations on the application that the steps of SQL of a process share (ADR 0075)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from toolkit.entities import SparkAttributes
from toolkit.programs.port import StepCall, StepEnd, StepEngine, StepMark
from toolkit.programs.shared_sql import SharedSqlEngine

_TRIES = 2
"""On an application that may end below it, since a step of SQL ended it."""
_ROOT = Path(__file__).parents[2]
_OF_RESOURCES = re.compile(
    r"""spark\.(?:
        (?:driver|executor)\.(?:cores|memory|memoryOverhead|memoryOverheadFactor|instances|maxResultSize)
        | app\.name | default\.parallelism | task\.(?:cpus|maxFailures) | network\.timeout | speculation
        | (?:ui\.(?:enabled|port|showConsoleProgress)) | eventLog\.(?:enabled|dir)
        | dynamicAllocation\..* | scheduler\.mode | yarn\.(?:queue|priority|tags)
        | memory\.(?:fraction|storageFraction) | shuffle\.service\.enabled
        | sql\.(?:shuffle\.partitions | autoBroadcastJoinThreshold | adaptive\..*)
    )""",
    re.VERBOSE,
)
"""Settings of a process that do not change what Spark reads in a file."""


@dataclass(frozen=True, kw_only=True)
class HostedEngine(StepEngine):
    """Runs a validation in a session of the application of its process, or by another engine.

    Attributes:
        shared: has the application.
        process: that made the data.
        cluster: where.
        own: for what cannot be run there.
        module: that validates, see `session_host`.
    """

    shared: SharedSqlEngine
    process: str
    cluster: str
    own: StepEngine
    module: str

    @override
    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        """Run it twice there if an application ended below it, then by the other engine."""
        order = {"path": str(_ROOT), "module": self.module, "arguments": call.args}
        host = self.shared.host_of(self.process, self.cluster)
        if host is None or not may_host(host):
            return self.own.run(call, started, check)
        for _ in range(_TRIES):
            end, was_lost = self.shared.validate(host, call, order, check)
            if not was_lost:
                if end is not None and end.succeeded:
                    return end
                break
        Path(call.args[-1]).unlink(missing_ok=True)  # an answer of an application that was lost is none
        return self.own.run(call, started, check)


def may_host(host: StepCall) -> bool:
    """Return whether an application reads data as one of the cluster does, and has no secrets and code of a process."""
    workflow, spark = host.workflow, host.workflow.spark or SparkAttributes()
    is_plain = not (workflow.secrets or workflow.lib or spark.options)
    return is_plain and all(_OF_RESOURCES.fullmatch(name) for name in spark.conf)
