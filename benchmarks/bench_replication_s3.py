"""Copying a feed from HDFS to an object store: feedctl, and DistCp with s3a.

The HDFS is the test bed's, the store is moto: one Python process that holds all in memory, so that it is what both wait
for most, and no figure tells of Amazon's. All of the files, then a second run that lists both sides and finds nothing
to do. What is not the source byte by byte makes a figure void. There is no goal.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hdfs_native import Client
from xxhash import xxh3_128

from benchmarks.peers.java_program import NoPeer
from benchmarks.peers.replication_peers import DISTCP
from benchmarks.replication.shapes import ROOT as FROM
from benchmarks.replication.shapes import START, TEMPLATE, Shape, Source, WrongCopy
from benchmarks.timing import SPARK_SUBMIT, Failed, TooLong, spark_environment, timed, took
from benchmarks.whole_process import PROGRAMS, ROOT, keep_bytecode
from tests.testbed.hdfs_server import HdfsServer
from tests.testbed.missing import Missing
from tests.testbed.processes import Starter
from tests.testbed.s3 import S3Store
from tests.testbed.s3_server import S3Server

SMALL = Shape(name="1,000 files of 10 KB in 100 instances", instances=100, files=10, size=10_000, changed=10)
LARGE = Shape(name="4 files of 200 MB in 2 instances", instances=2, files=2, size=200_000_000, changed=1)
QUICK_SMALL = Shape(name="100 files of 10 KB in 10 instances", instances=10, files=10, size=10_000, changed=1)
QUICK_LARGE = Shape(name="1 file of 200 MB", instances=1, files=1, size=200_000_000, changed=1)
SHAPES = {"small": (SMALL, QUICK_SMALL), "large": (LARGE, QUICK_LARGE)}
LONGEST = 300.0
_BUCKET = "benchmark"
_FLAG = "part-00000"
"""A target on an object store needs a flag; a file that each instance has is good for one."""
_CREDENTIALS = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
_VALIDITY = f"validity: {{start: {START:%Y-%m-%dT%H:%MZ}, end: 2099-01-01T00:00Z}}"


@dataclass(frozen=True, kw_only=True)
class Course:
    """What all are run over.

    Args:
        hdfs: URI of the source.
        store: of the targets.
        shape: what is copied.
        folder: for config repos.
    """

    hdfs: str
    store: S3Store
    shape: Shape
    folder: Path

    def ours(self, place: str) -> list[str]:
        """Options of ours, with a config repo for copies to a place."""
        repo = self.folder / place
        conf = "".join(f'\n  {key}: "{value}"' for key, value in self.store.settings.items())
        feed = (
            f"kind: feed\nname: clicks\nfrequency: hours(1)\navailability_flag: {_FLAG}\n"
            f'locations: {{data: "{TEMPLATE}"}}\n'
            f"clusters:\n  - {{name: hdfs, type: source, {_VALIDITY}}}\n  - {{name: s3, type: target, {_VALIDITY}}}\n"
        )
        texts = {
            "repo.yaml": f"name: benchmark\nledger: sqlite:///{repo}/ledger.db\n",
            "clusters/hdfs.yaml": _cluster("hdfs", f"{self.hdfs}{FROM}"),
            "clusters/s3.yaml": _cluster("s3", f"s3a://{_BUCKET}/{place}") + f"hadoop_conf:{conf}\n",
            "feeds/clicks.yaml": feed,
        }
        for name, text in texts.items():
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        timed([str(PROGRAMS / "feedctl"), "ledger", "upgrade", "--config-repo", str(repo)], {})
        nominal = f"{self.shape.nominal:%Y-%m-%dT%H:%MZ}"
        span = ["--start", f"{START:%Y-%m-%dT%H:%MZ}", "--end", "2099-01-01T00:00Z"]
        return ["--config-repo", str(repo), "--feed", "clicks", "--time", nominal, *span]

    def theirs(self, place: str, framework: str, *settings: str) -> list[str]:
        """The command of DistCp."""
        of_store = {**self.store.settings, "fs.s3a.aws.credentials.provider": _CREDENTIALS}
        given = [f"-D{key}={value}" for key, value in of_store.items()]
        options = [f"-Dmapreduce.framework.name={framework}", *settings, *given, "-update", "-bandwidth", "2000"]
        return DISTCP.command(*options, f"{self.hdfs}{FROM}", f"s3a://{_BUCKET}/{place}")

    def compare(self, place: str, source: Source) -> None:
        """Read all that is below a place; raises `WrongCopy`."""
        digests: dict[str, str] = {}
        with self.store.client() as client:
            for page in client.get_paginator("list_objects_v2").paginate(Bucket=_BUCKET, Prefix=f"{place}/"):
                for key in (found["Key"] for found in page.get("Contents", ()) if not found["Key"].endswith("/")):
                    body = client.get_object(Bucket=_BUCKET, Key=key)["Body"].read()
                    digests[key.removeprefix(f"{place}/")] = xxh3_128(body).hexdigest()
        source.require(digests, place)


def contestants(course: Course) -> Iterator[tuple[str, Callable[[], list[str]], Mapping[str, str]]]:
    """The name of each, its command, and what its process has in its environment."""
    entrypoint, script = ROOT / "entrypoints" / "replication.py", ROOT / "benchmarks" / "replication" / "in_process.py"
    yield "feedctl", lambda: [SPARK_SUBMIT, str(entrypoint), *course.ours("whole")], spark_environment()
    yield "feedctl, in Python", lambda: _in_python(script, course), {"PYTHONPATH": str(ROOT)}
    yield "DistCp", lambda: course.theirs("distcp", "local"), {}
    together = "-Dmapreduce.local.map.tasks.maximum=20"
    yield "DistCp, 20 maps at once", lambda: course.theirs("together", "together", together), {}


def _in_python(script: Path, course: Course) -> list[str]:
    return [sys.executable, str(script), "replication", *course.ours("call")]


PLACES = {"feedctl": "whole", "feedctl, in Python": "call", "DistCp": "distcp", "DistCp, 20 maps at once": "together"}


def measured(course: Course, source: Source) -> Iterator[str]:
    """A line for each contestant."""
    for name, command, environment in contestants(course):
        figures: list[str] = []
        try:
            prepared = command()
            for stage in ("all files", "nothing to do"):
                whole, output = timed(prepared, environment, longest=LONGEST)
                course.compare(PLACES[name], source)
                inside = took(whole, "" if name == "feedctl" else output).inside
                figures.append(f"{stage} {whole:.2f} s" + ("" if inside is None else f" (the call {inside:.2f} s)"))
        except (Failed, NoPeer, TooLong, WrongCopy) as why:
            figures.append(f"NO FIGURE: {why}")
        yield f"  {name:24} {'; '.join(figures)}"


def main() -> int:
    """Prints the figures; 1 when nothing can be measured here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--quick", action="store_true", help="a tenth of the files")
    requested = parser.parse_args()
    try:
        for line in everything([SHAPES[name][requested.quick] for name in requested.shapes]):
            print(line, flush=True)
    except Missing as why:
        print(f"NOT MEASURED: {why}")
        return 1
    return 0


def everything(shapes: Sequence[Shape]) -> Iterator[str]:
    """The lines of all shapes, each on servers of its own: moto keeps what it was given in memory."""
    for shape in shapes:
        starter = Starter()
        with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
            hdfs, s3 = HdfsServer(starter, Path(name, "hdfs")), S3Server(starter, Path(name, "s3"))
            keep_bytecode(Path(name) / "bytecode")
            try:
                hdfs.start()
                s3.start()
                store = S3Store(port=int(s3.facts()["port"]))
                os.environ.update(store.environment)
                with store.client() as client:
                    client.create_bucket(Bucket=_BUCKET)
                uri = f"hdfs://127.0.0.1:{hdfs.facts()['rpc']}"
                source = Source(client=Client(uri), shape=shape)
                source.make()
                yield f"{shape.name}, from HDFS to moto; load before: {os.getloadavg()[0]:.1f}"
                yield from measured(Course(hdfs=uri, store=store, shape=shape, folder=Path(name, "repos")), source)
            finally:
                starter.end()


def _cluster(name: str, place: str) -> str:
    return f'kind: cluster\nname: {name}\ninterfaces: {{write: {{endpoint: "{place}"}}}}\n'


if __name__ == "__main__":
    raise SystemExit(main())
