"""Migrating thousands of Falcon's entities: processor seconds and memory of the whole process, and how both grow.

Of a hundred entities one is a cluster, sixty are feeds, and the others processes of all four engines, each of which
makes a feed that the next one reads. Lint reads what comes out, as in use.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.whole_process import PROGRAMS, keep_bytecode, run

FEEDCTL = str(PROGRAMS / "feedctl")
ENTITIES = 5000
GROWTH_GOAL = 1.5
SECONDS_GOAL = 60.0
MIB_GOAL = 1024
ENGINES = ("oozie", "pig", "hive", "spark")
TIMES = '<validity start="2026-01-01T00:00Z" end="2030-01-01T00:00Z"/>'
ACL = '<ACL owner="etl" group="hadoop" permission="0x755"/>'


def cluster(number: int) -> str:
    """A cluster of Falcon's."""
    return f"""<cluster name="cluster-{number}" colo="east" xmlns="uri:falcon:cluster:0.1">
  <interfaces>
    <interface type="readonly" endpoint="hftp://nn{number}.example.com:50070" version="2.7"/>
    <interface type="write" endpoint="hdfs://nn{number}.example.com:8020" version="2.7"/>
    <interface type="execute" endpoint="rm{number}.example.com:8032" version="2.7"/>
    <interface type="workflow" endpoint="http://oozie{number}.example.com:11000/oozie/" version="4"/>
  </interfaces>
  <locations><location name="staging" path="/staging"/><location name="working" path="/working"/></locations>
</cluster>
"""


def feed(number: int, clusters: int) -> str:
    """A feed that is evicted and may be late."""
    return f"""<feed name="feed-{number}" description="feed number {number}" xmlns="uri:falcon:feed:0.1">
  <tags>owner=team-{number % 20}, classification=public</tags>
  <availabilityFlag>_SUCCESS</availabilityFlag>
  <frequency>hours(1)</frequency>
  <timezone>UTC</timezone>
  <late-arrival cut-off="hours(6)"/>
  <clusters><cluster name="cluster-{number % clusters}" type="source">
    {TIMES}<retention limit="days({30 + number % 60})" action="delete"/>
  </cluster></clusters>
  <locations><location type="data" path="/data/feed-{number}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"/></locations>
  {ACL}
  <schema location="/none" provider="none"/>
  <properties><property name="queueName" value="etl"/><property name="parallel" value="3"/></properties>
</feed>
"""


def process(number: int, clusters: int) -> str:
    """A process that makes a feed of the next one on the same cluster."""
    read = number + clusters
    return f"""<process name="process-{number}" xmlns="uri:falcon:process:0.1">
  <clusters><cluster name="cluster-{read % clusters}">{TIMES.replace("T00:00Z", "T06:00Z", 1)}</cluster></clusters>
  <parallel>1</parallel>
  <order>FIFO</order>
  <frequency>hours(1)</frequency>
  <timezone>UTC</timezone>
  <inputs><input name="in" feed="feed-{read}" start="now(-1,0)" end="now(-1,0)"/></inputs>
  <outputs><output name="out" feed="feed-{number}" instance="now(0,0)"/></outputs>
  <properties><property name="threshold" value="{number}"/></properties>
  <workflow engine="{ENGINES[number % 4]}" path="/apps/process-{number}/run.jar"/>
  <retry policy="exp-backoff" delay="minutes(10)" attempts="3"/>
  <late-process policy="exp-backoff" delay="hours(1)">
    <late-input input="in" workflow-path="/apps/process-{number}/late.jar"/>
  </late-process>
  {ACL}
</process>
"""


def generated(folder: Path, entities: int) -> Path:
    """A folder with this many files of XML."""
    clusters = max(1, entities // 100)
    feeds = entities * 6 // 10 // clusters * clusters
    folder.mkdir(parents=True)
    texts = [cluster(each) for each in range(clusters)]
    texts += [feed(each, clusters) for each in range(feeds)]
    texts += [process(each, clusters) for each in range(entities - clusters - feeds)]
    for number, text in enumerate(texts):
        (folder / f"{number}.xml").write_text(text)
    return folder


def migrated(folder: Path, entities: int, report: str = "json") -> tuple[float, float]:
    """Seconds and peak MiB of a migration."""
    xml = generated(folder / f"xml-{entities}", entities)
    return run([FEEDCTL, "migrate", "falcon", str(xml), "--into", str(folder / f"repo-{entities}"), "--report", report])


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=ENTITIES)
    largest = parser.parse_args().entities
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keep_bytecode(folder / "bytecode")
        _ = migrated(folder, 10)  # compiles
        found = [(size, *migrated(folder, size)) for size in (largest // 10, largest // 2, largest)]
    print("migrate falcon, with lint, the report as JSON, all files written")
    for size, seconds, peak in found:
        print(f"  {size:6} entities {seconds:7.2f} s  {seconds / size * 1e3:6.2f} ms an entity  peak {peak:5.0f} MiB")
    (few, first, _), (half, second, _), (many, last, peak) = found
    ratio = (last - second) / (many - half) / ((second - first) / (half - few))
    print(f"  each further one costs {ratio:.2f} times as much in the second half (goal: at most {GROWTH_GOAL})")
    print(f"  goals: at most {SECONDS_GOAL:.0f} s and {MIB_GOAL} MiB for {ENTITIES} entities")
    return 0 if ratio <= GROWTH_GOAL and last <= SECONDS_GOAL and peak <= MIB_GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
