"""Processes and feeds as a registration has them, without a config repo."""

from __future__ import annotations

from dataclasses import replace

from toolkit.ledger.registry.registration import ProcessEntry, Registration, ServerEntry, Site, StepEntry
from toolkit.ledger.vocabulary import ProcessKind

CLUSTER = "primary"


def step(
    name: str,
    *upstreams: str,
    optional: tuple[str, ...] = (),
    feeds: tuple[str, ...] | None = None,
    recoverable: bool = True,
) -> StepEntry:
    """A step that reads from these; without `feeds`, the feeds are called like the upstreams."""
    return StepEntry(
        name=name,
        position=0,
        engine="command",
        path=f"workflows/{name}.sh",
        is_recoverable=recoverable,
        feeds=frozenset(feeds if feeds is not None else (*upstreams, *optional)),
        upstreams={**dict.fromkeys(upstreams, False), **dict.fromkeys(optional, True)},
    )


def process(
    name: str, *steps: StepEntry, cluster: str = CLUSTER, properties: dict[str, str] | None = None
) -> ProcessEntry:
    """A process with these steps, in this order; without any it has the one step `main`, which reads nothing."""
    given = steps or (step("main"),)
    return ProcessEntry(
        site=Site(name=name, cluster=cluster),
        kind=ProcessKind.PROCESS,
        domain="web",
        description=f"makes {name}",
        digest=f"digest of {name}",
        steps=tuple(replace(each, position=position) for position, each in enumerate(given)),
        properties=properties or {},
    )


def feed(name: str, cluster: str = CLUSTER) -> ProcessEntry:
    """A feed that no process makes."""
    return ProcessEntry(site=Site(name=name, cluster=cluster), kind=ProcessKind.FEED, digest=f"digest of {name}")


def registration(*entries: ProcessEntry, snapshot: str = "commit 1", elsewhere: tuple[str, ...] = ()) -> Registration:
    """These, and two servers."""
    servers = (
        ServerEntry(name="primary", kind="cluster", endpoint="hdfs://ns1"),
        ServerEntry(name="shop", kind="datasource", endpoint="jdbc:postgresql://db/shop"),
    )
    return Registration(snapshot=snapshot, processes=entries, servers=servers, elsewhere=frozenset(elsewhere))
