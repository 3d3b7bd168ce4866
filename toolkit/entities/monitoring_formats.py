"""Texts of SLAs and of monitoring that schemas name: cron expressions, dates, hosts, URLs of webhooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from urllib.parse import quote

from cronsim import CronSim, CronSimError

from toolkit.el import EPOCH, ElError
from toolkit.entities.env_references import MissingVariable

CRON_FIELDS = 5
_CRON = re.compile(r"[0-9A-Za-z*/,#-]{1,80}(?: +[0-9A-Za-z*/,#-]{1,80}){4}")
_CRON_EXPECTED = "five fields of a cron expression, such as 0 6 * * mon-fri"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_DOMAIN = re.compile(_HOST)
_HOST_PORT = re.compile(rf"{_HOST}:(?P<port>[0-9]{{1,5}})")
_WEBHOOK = re.compile(rf"https?://(?P<host>{_HOST})(?::[0-9]{{1,5}})?(?P<rest>[/?][!-~]*)?")
_SECRET = re.compile(r"\$\{env:(?P<name>FEEDCTL_WEBHOOK_[A-Z0-9_]+)\}")
_HIGHEST_PORT = 65535


def check_cron(text: str) -> None:
    """Refuse a text that is no cron expression of five fields.

    Raises:
        ElError: it is none.
    """
    if _CRON.fullmatch(text) is None:
        raise ElError(text=text, expected=_CRON_EXPECTED)
    try:
        CronSim(text, EPOCH)
    except CronSimError as error:
        raise ElError(text=text, found=str(error), expected=_CRON_EXPECTED) from error


def check_date(text: str) -> None:
    """Refuse a text that is no date.

    Raises:
        ElError: it is none.
    """
    try:
        is_date = _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        is_date = False
    if not is_date:
        raise ElError(text=text, expected="a date, such as 2026-12-25")


def check_domain(text: str) -> None:
    """Refuse a text that is no name of a host or domain, and no address.

    Raises:
        ElError: it is none.
    """
    if _DOMAIN.fullmatch(text) is None:
        raise ElError(text=text, expected="a name such as example.com, without a port or a path")


def check_host_port(text: str) -> None:
    """Refuse a text that is not HOST:PORT.

    Raises:
        ElError: it is something else.
    """
    match = _HOST_PORT.fullmatch(text)
    if match is None or not 0 < int(match["port"]) <= _HIGHEST_PORT:
        raise ElError(text=text, expected="HOST:PORT")


def check_webhook_url(text: str) -> None:
    """Refuse a text that is no URL of a webhook; a message shows no more of it than its host.

    Raises:
        ElError: it is none, or refers to a variable that is not for webhooks, or in front of the path.
    """
    match = _WEBHOOK.fullmatch(text)
    if match is None:
        expected = "http:// or https://, a host, and a path; no user, password or blank"
        raise ElError(text="...", found="no URL of a webhook", expected=expected)
    rest = _SECRET.sub("", match["rest"] or "")
    if "${" in rest or "#" in rest:
        expected = "${env:FEEDCTL_WEBHOOK_...} for secret parts, and no fragment"
        raise ElError(text=f"https://{match['host']}/...", found="another reference or fragment", expected=expected)


def webhook_host(url: str) -> str:
    """Return the host of a valid URL of a webhook, in lower case."""
    match = _WEBHOOK.fullmatch(url)
    return "" if match is None else match["host"].lower()


def webhook_secrets(url: str) -> tuple[str, ...]:
    """Return the names of the environment variables in the URL of a webhook."""
    return tuple(each["name"] for each in _SECRET.finditer(url))


def expand_webhook_url(url: str, environment: Mapping[str, str]) -> str:
    """Return the URL of a webhook with its secrets in the place of the references.

    A value may have several parts of a path or of a query; everything else in it is percent-encoded.

    Args:
        url: as `check_webhook_url` allows it.
        environment: the variables by name.

    Raises:
        MissingVariable: a variable is not set.
    """

    def value(reference: re.Match[str]) -> str:
        if reference["name"] not in environment:
            raise MissingVariable(name=reference["name"])
        return quote(environment[reference["name"]], safe="/=&%+:@,;")

    return _SECRET.sub(value, url)
