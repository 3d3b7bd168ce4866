"""Processes for tests and benchmarks, without a config repo: a chain, a diamond, and what they read."""

from __future__ import annotations

from toolkit.ledger.registry.registration import ProcessEntry, Registration, ServerEntry, Site, StepEntry
from toolkit.ledger.vocabulary import ProcessKind

CLUSTER = "primary"
FEED = Site(name="clicks", cluster=CLUSTER)
SERVER = "landing"


def feed() -> ProcessEntry:
    """Return what all graphs begin with."""
    return ProcessEntry(site=FEED, kind=ProcessKind.FEED, digest="sha256:feed")


def process(name: str, **steps: tuple[str, ...]) -> ProcessEntry:
    """A process whose steps have these upstreams, for each of which they wait; its feed has its name."""
    return ProcessEntry(
        site=Site(name=name, cluster=CLUSTER),
        kind=ProcessKind.PROCESS,
        digest=f"sha256:{name}",
        steps=tuple(
            StepEntry(
                name=step, position=position, feeds=frozenset(upstreams), upstreams=dict.fromkeys(upstreams, False)
            )
            for position, (step, upstreams) in enumerate(steps.items())
        ),
    )


def registration(*processes: ProcessEntry) -> Registration:
    """Return what is registered, with a server for files."""
    server = ServerEntry(name=SERVER, kind="datasource", endpoint="sftp://landing.example.com")
    return Registration(snapshot="test", processes=(feed(), *processes), servers=(server,))


def chain() -> Registration:
    """Two processes, one behind the other; the first has two steps."""
    return registration(process("clean", read=(FEED.name,), write=(FEED.name,)), process("report", main=("clean",)))


def chain_and_diamond() -> Registration:
    """Two chains that begin with one feed, of which the second splits and joins again."""
    return registration(
        process("clean", read=(FEED.name,), write=(FEED.name,)),
        process("report", main=("clean",)),
        process("split", main=(FEED.name,)),
        process("left", main=("split",)),
        process("right", main=("split",)),
        process("join", left=("left",), both=("left", "right")),
    )
