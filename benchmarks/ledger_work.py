"""What is measured on a ledger: whole jobs, and leases."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count, pairwise

from benchmarks.ledger_filling import JOB, STEPS
from tests.databases.graphs import CLUSTER
from toolkit.ledger.database import Ledger
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.runs import run_start, status
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Origin, RunKey
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.runs.job_calls import RunMetadata

_REF = JobRef(process=JOB, cluster=CLUSTER)
_ORIGIN = Origin(who="bench", snapshot="c0ffee", digest="sha256:c0ffee", host="edge1", pid=4711)
_numbers = count(1)


def job(ledger: Ledger) -> None:
    """init_job, three steps, halt_job: eight calls, each a transaction."""
    jobs = RunMetadata(ledger=ledger, origin=_ORIGIN)
    jobs.init_job(_REF, max_batches=1)
    for step in STEPS:
        jobs.init_step(_REF, step)
        jobs.halt_step(_REF, step)
    jobs.halt_job(_REF)


def job_together(ledger: Ledger) -> None:
    """The same calls in five transactions: the end of a step goes with the begin of the next, or the end of the job."""
    jobs = RunMetadata(ledger=ledger, origin=_ORIGIN)
    jobs.init_job(_REF, max_batches=1)
    jobs.init_step(_REF, STEPS[0])
    for ended, begun in pairwise(STEPS):
        with jobs.transaction(is_lasting=False) as together:
            together.halt_step(_REF, ended)
            together.init_step(_REF, begun)
    with jobs.transaction() as together:
        together.halt_step(_REF, STEPS[-1])
        together.halt_job(_REF)


def lease(ledger: Ledger) -> None:
    """A run that takes a lease, and gives it back as it ends: two transactions."""
    feed = f"feed_{next(_numbers)}"
    key = RunKey(life_cycle=LifeCycle.EVICTION, entity=feed, cluster=CLUSTER, instance_key="2026-03-01T00:00Z")
    wanted = (Wanted(resource=f"evict/{feed}/{CLUSTER}"),)
    request = StartRequest(key=key, origin=_ORIGIN, leases=wanted, lease_seconds=60)
    run = ledger.write(lambda tx: run_start.start(tx, request)).run
    ledger.write(lambda tx: status.change(tx, run.run_id, RunStatus.SUCCEEDED))


def seconds(call: Callable[[], object], times: int) -> float:
    """How long one call takes, on average over so many."""
    began = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - began) / times
