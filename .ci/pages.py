"""Pages of a made-up installation, for `make page-check`: each state, long and hostile texts, and columns of tables."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from tests.contract.ledger.test_recent_runs import add_alert
from tests.databases.ledgers import open_ledger
from tests.unit.entities.config_repo import CLUSTER, snapshot
from tests.unit.management.runs import execution
from tests.unit.pages.test_validation_page import drawn
from toolkit.el import format_instant
from toolkit.entities.loader import load
from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage, record
from toolkit.ledger.tables import run
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import AlertLevel, LineageRelationKind, RunStatus
from toolkit.pages.build import build_pages

HOSTILE = "</script><script>alert('x')</script> \"quoted\" [a](b) \N{RIGHT-TO-LEFT OVERRIDE}gpj.exe " + "long" * 200
HOURS = 40
START = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS)
STATES = (RunStatus.SUCCEEDED, RunStatus.SUCCEEDED, RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.RUNNING)
LAYERS, WIDTH = 4, 6
FEED = """\
kind: feed
name: {name}
owner: "{owner}"
description: {text}
tags: {{team: web}}
groups: [web]
frequency: hours(1)
availability_flag: _SUCCESS
sla: {{low: hours(1), high: hours(2)}}
locations: {{data: "/data/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"}}
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
"""
PROCESS = """\
kind: process
name: {name}
domain: {domain}
frequency: hours(1)
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
inputs: {{{inputs}}}
outputs: {{out: {{feed: {output}, instance: "now(0,0)"}}}}
workflow: {{engine: command, path: run.sh}}
"""


def files() -> Iterator[tuple[str, str]]:
    """Yield the files of the config repo: layers of feeds, each made from two of the layer before."""
    yield "repo.yaml", "name: shop\nallowed_domains: [example.com]\n"
    yield "clusters/primary.yaml", CLUSTER
    yield "run.sh", "#!/bin/sh\n"
    for layer in range(LAYERS):
        for number in range(WIDTH):
            name = f"layer-{layer}-feed-{number}"
            text = json.dumps("one of many" if number else HOSTILE)
            yield f"feeds/{name}.yaml", FEED.format(name=name, owner="data@example.com", text=text)
            if layer:
                sources = [f"layer-{layer - 1}-feed-{(number + more) % WIDTH}" for more in (0, layer)]
                inputs = ", ".join(
                    f'in{at}: {{feed: {each}, start: "now(0,0)", end: "now(0,0)"}}'
                    for at, each in enumerate(dict.fromkeys(sources))
                )
                process = PROCESS.format(name=f"make-{name}", domain=f"domain-{number % 2}", inputs=inputs, output=name)
                yield f"processes/make-{name}.yaml", process


def statement() -> StatementLineage:
    """Return the columns of a table of sales, with long and hostile names."""

    def relation(source: str, target: str, kind: LineageRelationKind) -> ColumnRelation:
        (table, column), (to, into) = source.rsplit(".", 1), target.rsplit(".", 1)
        return ColumnRelation(
            source=LineageNode(table=table, column=column), target=LineageNode(table=to, column=into), kind=kind
        )

    direct, aggregate = LineageRelationKind.DIRECT, LineageRelationKind.AGGREGATE
    where = ColumnRelation(
        source=LineageNode(table="raw.orders", column="day"),
        target=LineageNode(table="mart.sales"),
        kind=LineageRelationKind.CONDITION,
    )
    relations = [
        relation("raw.orders.customer", "mart.sales.customer", direct),
        relation("raw.orders.amount", "mart.sales.total", aggregate),
        relation("raw.rates.rate", "mart.sales.total", aggregate),
        relation(f"raw.rates.{HOSTILE.replace('.', ' ')}", "mart.sales.note", direct),
        relation("mart.sales.total", "mart.top.total", direct),
        where,
    ]
    return StatementLineage.of("spark_sql", "INSERT", relations)


def main() -> None:
    """Write the pages into the folder that is named."""
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ledger = open_ledger(sa.make_url(f"sqlite:///{folder / 'ledger.db'}"))
    upgrade(ledger)
    for layer in range(1, LAYERS):
        for number in range(WIDTH):
            for hour in range(HOURS):
                state = STATES[(hour * (number + 3) + layer) % len(STATES)] if hour % 7 == number else STATES[0]
                at = format_instant(START + timedelta(hours=hour))
                last = execution(ledger, at, state, f"make-layer-{layer}-feed-{number}")
    ledger.write(lambda tx: tx.execute(sa.update(run).where(run.c.status == RunStatus.FAILED).values(reason=HOSTILE)))
    ledger.write(lambda tx: add_alert(tx, "layer-1-feed-0", AlertLevel.HIGH, 3))
    ledger.write(lambda tx: record(tx, [statement()], last.run_id))
    read = snapshot(dict(files()))
    result = drawn(folder / "pages-of-runs")
    result.rename(result.with_name("result.html"))
    build_pages(ledger, load(read), read.files, folder / "pages", site="shop", snapshot="commit abc")


if __name__ == "__main__":
    main()
