"""The formats that the schemas name, for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reference_pages.markdown import code, table
from reference_pages.unexplained import UnexplainedError
from toolkit.entities import formats


class Format(NamedTuple):
    """What a format means, and a text that has it."""

    meaning: str
    example: str


FORMATS: Mapping[str, Format] = {
    "instant": Format("a time in UTC, to the minute", "2026-03-01T06:40Z"),
    "frequency": Format(
        "`minutes(n)`, `hours(n)`, `days(n)` or `months(n)`; see [expressions](expressions.md)", "hours(6)"
    ),
    "timezone": Format("a name of the IANA time zone database", "Europe/Berlin"),
    "el": Format("a time relative to the nominal time; see [expressions](expressions.md)", "today(-1,0)"),
    "path-template": Format(
        "an absolute path or a URI with date fields; see [expressions](expressions.md)",
        "/data/clicks/${YEAR}/${MONTH}/${DAY}",
    ),
    "table-uri": Format(
        "a table and its partitions; see [expressions](expressions.md)",
        "catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY}",
    ),
    "url": Format("a URL or host:port; a password only as `${env:NAME}`", "hdfs://nn:8020"),
    "ledger-url": Format(
        "`sqlite:///FILE` in the config repo's root folder, `sqlite:////FILE` anywhere, `postgresql://...` or "
        "`postgresql+psycopg://...` with the password `${env:FEEDCTL_LEDGER_...}`, without options",
        "sqlite:///.feedctl/ledger.db",
    ),
    "local-path": Format("the path of a local file; `${env:NAME}` may stand in it", "${env:HOME}/feedctl/audit.jsonl"),
    "dataset-uri": Format(
        "a URI, or a plain name, without credentials; compared in canonical form", "s3://bucket/orders"
    ),
    "dataset-pattern": Format("the same, or a glob with `*`, `?` and `[abc]`", "s3://bucket/orders/*"),
    "partition-expression": Format("names, `*` or variables with slashes between them", "*/${cluster.colo}"),
    "name": Format("a letter, then at most 119 letters, digits, `_` and `-`", "clicks_hourly"),
    "variable": Format("a letter or `_`, then letters, digits, `_` and `-`", "clicks"),
    "argument": Format("one argument of a command: printable, with no blank at its ends", "--conf"),
    "email": Format("a mail address", "web-analytics@example.com"),
    "cron": Format("five fields of a cron expression: minute, hour, day, month, weekday", "0 6 * * mon-fri"),
    "date": Format("a date", "2026-12-25"),
    "domain": Format("the name or address of a host, or a domain; without a port", "hooks.example.com"),
    "host-port": Format("`HOST:PORT`", "localhost:8125"),
    "webhook-url": Format(
        "`http://` or `https://`, without a user; after the host `${env:FEEDCTL_WEBHOOK_...}` may stand for a secret",
        "https://hooks.example.com/services/${env:FEEDCTL_WEBHOOK_OPS}",
    ),
    "permission": Format("octal digits, with or without `0` or `0x` in front, or `*`", "0750"),
}


def formats_table() -> str:
    """Return the table of all formats; its examples have passed the check of the loader."""
    for name, each in FORMATS.items():
        formats.FORMATS[name](each.example)
    unexplained = sorted(set(formats.FORMATS) - set(FORMATS))
    if unexplained:
        raise UnexplainedError(
            what=f"format {', '.join(unexplained)}", where="FORMATS in .ci/reference_pages/formats.py"
        )
    rows = ([name, each.meaning, code(each.example)] for name, each in sorted(FORMATS.items()))
    return table(("format", "what it is", "example"), rows)
