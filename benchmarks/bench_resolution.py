"""Resolving instances of a process: seconds of CPU for 100,000, whose inputs are all there.

One process reads an hour and makes one, as the template's does; the other reads a day of hours, as a daily report does.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from toolkit.el import Frequency
from toolkit.entities import (
    Cluster,
    Engine,
    Feed,
    FeedCluster,
    Input,
    Interface,
    Interfaces,
    Locations,
    Output,
    Process,
    ProcessCluster,
    Validity,
    Workflow,
)
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.resolution import resolve_instance

START = datetime(2015, 1, 1, tzinfo=UTC)
ALWAYS = Validity(start=START, end=START + timedelta(days=36_500))
HOURLY = Frequency.parse("hours(1)")
CASES = {"an hour": "now(-1,0)", "24 hours": "now(-24,0)"}
MANY, MEASURED, ROUNDS = 100_000, 5_000, 3


def site(start: str) -> ProcessSite:
    """A process that reads from there up to the last hour."""
    feeds = {
        name: Feed(
            name=name,
            frequency=HOURLY,
            locations=Locations(data=f"/data/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"),
            clusters=(FeedCluster(name="primary", validity=ALWAYS),),
        )
        for name in ("clicks", "counts")
    }
    process = Process(
        name="count",
        frequency=HOURLY,
        clusters=(ProcessCluster(name="primary", validity=ALWAYS),),
        inputs={"clicks": Input(feed="clicks", start=start, end="now(-1,0)")},
        outputs={"counts": Output(feed="counts", instance="now(-1,0)")},
        properties={"threshold": "10", "time": "${instanceTime()}"},
        workflow=Workflow(engine=Engine.COMMAND, path="count.sh"),
    )
    cluster = Cluster(name="primary", interfaces=Interfaces(write=Interface(endpoint="hdfs://ns1")))
    return ProcessSite(process=process, cluster=cluster, feeds=feeds)


def seconds(start: str) -> float:
    """Of CPU for all of them, by some of them."""
    of_process = site(start)
    began = time.process_time()
    for hour in range(48, 48 + MEASURED):
        found = resolve_instance(of_process, START + timedelta(hours=hour), lambda _feed: lambda _instant: True)
        assert not found.missing
    return (time.process_time() - began) * MANY / MEASURED


def main() -> int:
    """Prints the best of some rounds, since a busy machine only ever adds."""
    for name, start in CASES.items():
        best = min(seconds(start) for _ in range(ROUNDS))
        print(f"{best:8.2f} s of CPU  {MANY:,} instances that read {name} ({best / MANY * 1e6:.0f} us each)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
