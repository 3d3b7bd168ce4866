"""The gate of a run, wired; what judges and what draws pages is loaded when something is judged."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.ledgers import quality_folder
from toolkit.quality.gate import Author, QualityGate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from toolkit.config_source import Snapshot
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.quality import Suite
    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.verdicts import NewVerdict
    from toolkit.quality.exchange import AskedExpectation, Finding
    from toolkit.quality.gate import Judge
    from toolkit.storage import FileSystem


def judges_anything(repository: Repository) -> bool:
    """Whether any feed, or output of a process, has suites."""
    of_feeds = (feed.quality or any(each.quality for each in feed.clusters) for feed in repository.feeds.values())
    of_outputs = (each.suites for process in repository.processes.values() for each in process.outputs.values())
    return any(of_feeds) or any(of_outputs)


def quality_gate(
    snapshot: Snapshot,
    repository: Repository,
    ledger: Ledger | None,
    stores: Callable[[CanonicalPath], FileSystem],
    author: Author,
) -> QualityGate:
    """The gate of a run, or of a command.

    Args:
        snapshot: of the config repo.
        repository: its entities.
        ledger: None: the user chose to do without.
        stores: for listing.
        author: whose data are judged.
    """
    return QualityGate(
        stores=stores,
        suites=repository.suites,
        ledger=ledger,
        judges=_judge,
        fill=_filled,
        write_page=partial(_page, quality_folder(snapshot, repository.settings)),
        author=author,
    )


def _judge(cluster: Cluster) -> Judge:
    from toolkit.bootstrap.judge import SparkJudge  # noqa: PLC0415 - most runs judge nothing

    return SparkJudge(cluster=cluster, variables=dict(os.environ))


def _filled(
    suites: Sequence[Suite], feed: Feed, cluster: Cluster, instant: datetime, previous: int | None
) -> tuple[tuple[AskedExpectation, ...], Sequence[str]]:
    from toolkit.quality.filling import fill  # noqa: PLC0415 - most runs judge nothing

    return fill(suites, feed, cluster, instant, previous)


def _page(folder: Path, verdict: NewVerdict, findings: Sequence[Finding]) -> str:
    from toolkit.quality.page import write_page  # noqa: PLC0415 - Jinja is loaded for pages alone

    return write_page(folder, verdict, findings)
