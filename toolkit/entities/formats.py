"""The formats that the schemas name, checked by the same code that later reads the values."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from toolkit.el import ElError, Frequency, dataset_uri, load_zone, parse_expression, parse_instant
from toolkit.el.segment import Segment
from toolkit.el.tokens import tokenize
from toolkit.entities.addresses import (
    check_audit_file,
    check_ledger,
    check_ledger_of_repo,
    check_local_path,
    check_url,
)
from toolkit.entities.env_references import check_ledger_references, check_path_references, check_references
from toolkit.entities.monitoring_formats import (
    check_cron,
    check_date,
    check_domain,
    check_host_port,
    check_webhook_url,
)
from toolkit.entities.templates import path_template, table_uri

_RECENT = 4096


def _matching(pattern: str, expected: str) -> Callable[[str], None]:
    compiled = re.compile(pattern)

    def check(text: str) -> None:
        if not compiled.fullmatch(text):
            raise ElError(text=text, expected=expected)

    return check


def _all(*checks: Callable[[str], None]) -> Callable[[str], None]:
    def check(text: str) -> None:
        for each in checks:
            each(text)

    return check


_PARTITION = re.compile(r"(?:[^/${}\s]|\$\{[A-Za-z_][\w.-]*\})+")


def _check_partition(text: str) -> None:
    offset = 0
    for part in text.split("/"):
        if not _PARTITION.fullmatch(part):
            expected = "a name, * or an expression such as ${cluster.colo} between slashes"
            raise ElError(text=text, position=offset, found=part, expected=expected)
        _ = Segment(tuple(tokenize(part, whole=text, offset=offset)), text)  # a malformed glob is refused
        offset += len(part) + 1


def _check_argument(text: str) -> None:
    if not text or text != text.strip() or not text.isprintable():
        raise ElError(text=text, expected="one argument of a command: printable, with no blank at its ends")


def _check_pattern(text: str) -> None:
    _ = dataset_uri.parse_glob(text) if dataset_uri.is_glob(text) else dataset_uri.parse(text)


_CHECKS: dict[str, Callable[[str], object]] = {
    "instant": parse_instant,
    "frequency": Frequency.parse,
    "timezone": load_zone,
    "el": parse_expression,
    "path-template": path_template,
    "table-uri": table_uri,
    "url": check_url,
    "ledger-url": _all(check_ledger, check_references, check_ledger_references, check_ledger_of_repo),
    "local-path": _all(check_local_path, check_references, check_path_references, check_audit_file),
    "partition-expression": _check_partition,
    "name": _matching(
        r"[A-Za-z][A-Za-z0-9_-]{0,119}", "a letter, then at most 119 letters, digits, underscores and dashes"
    ),
    "variable": _matching(r"[A-Za-z_][A-Za-z0-9_-]*", "a letter, then letters, digits, underscores and dashes"),
    "argument": _check_argument,
    "dataset-uri": dataset_uri.parse,
    "dataset-pattern": _check_pattern,
    "email": _matching(r"[^@\s]+@[^@\s]+", "a mail address"),
    "cron": check_cron,
    "date": check_date,
    "domain": check_domain,
    "host-port": check_host_port,
    "webhook-url": check_webhook_url,
    "permission": _matching(r"\*|(?:0x|0)?[0-7]{3}", "an octal permission such as 0750, or *"),
}

FORMATS: Mapping[str, Callable[[str], object]] = {
    name: lru_cache(maxsize=_RECENT)(check) for name, check in _CHECKS.items()
}
"""Check of a text by the name of its format; each raises `ElError` for a text that it does not allow."""


def allows(check: Callable[[str], object], text: str) -> bool:
    """Return whether a format allows a text.

    Args:
        check: one of `FORMATS`.
        text: any text.
    """
    try:
        check(text)
    except ElError:
        return False
    return True
