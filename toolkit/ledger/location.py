"""Location of the ledger: a SQLite file or a PostgreSQL database (DESIGN section 6)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from toolkit.el import ElError
from toolkit.entities.addresses import check_ledger_of_repo, check_ledger_url
from toolkit.entities.env_references import expand_url
from toolkit.ledger.errors import UnusableLedger

SQLITE = "sqlite:///"
"""Start of the place of a SQLite ledger; its path follows."""
_PLAIN = re.compile(r"(?:[\w.,$+%@\\/\[\]-]|:(?=[0-9A-Fa-f:]))*")
"""Part of a URL that may be shown: with other signs in it, it may be a password in the wrong place."""
_TODO = "correct it, or set FEEDCTL_LEDGER"


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerLocation:
    """A ledger that may or may not be there.

    Attributes:
        url: with the password.
        place: the URL without password and options, for messages.
        file: of SQLite, absolute; None: the ledger is on PostgreSQL.
        from_repo: the config repo names it, so that its host gets nothing else of the operator's than its password.
    """

    url: sa.URL = field(repr=False)
    place: str
    file: Path | None = None
    from_repo: bool = False


def located(
    text: str, *, named_by: str, root: Path | None, variables: Mapping[str, str], from_repo: bool = False
) -> LedgerLocation:
    """The ledger that a URL means.

    Args:
        text: the URL, with references to environment variables.
        named_by: who says so, for messages.
        root: what a relative SQLite path is relative to; None: the config repo is an archive, which holds no ledger.
        variables: of the environment.
        from_repo: see `LedgerLocation`.

    Raises:
        MissingVariable: the URL refers to a variable that is not set.
        UnusableLedger: the URL is no ledger's, or is relative to an archive.
    """
    try:
        if from_repo:
            check_ledger_of_repo(text)
        url = expand_url(text, variables)
        check_ledger_url(url)
    except ElError as error:
        raise UnusableLedger(place=f"of {named_by}", found=f"cannot be used: {error}", todo=_TODO) from None
    return _sqlite(url, root) if url.startswith(SQLITE) else _postgresql(url, named_by, from_repo=from_repo)


def _sqlite(url: str, root: Path | None) -> LedgerLocation:
    written = Path(url.removeprefix(SQLITE))
    if root is None and not written.is_absolute():
        raise UnusableLedger(
            place=url,
            found="is relative to the config repo, which is an archive",
            todo="name it by its whole path, sqlite:////FOLDER/FILE, in repo.yaml or in FEEDCTL_LEDGER",
        )
    file = Path(os.path.normpath(Path.cwd() / (root or Path()) / written))
    return LedgerLocation(
        url=sa.URL.create("sqlite", database=str(file)),
        place=f"{SQLITE}{file}",
        file=file,
    )


def _postgresql(text: str, named_by: str, *, from_repo: bool) -> LedgerLocation:
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):  # they say the whole URL, and so its password
        found = "cannot be used: it is no URL of PostgreSQL, postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        raise UnusableLedger(place=f"of {named_by}", found=found, todo=_TODO) from None
    if _has_stray_at(text, url):
        found = "cannot be used: a user name or password in it has an @ that is not written as %40"
        raise UnusableLedger(place=f"of {named_by}", found=found, todo=_TODO)
    if not all(map(_PLAIN.fullmatch, (url.username or "", url.host or "", url.database or ""))):
        found = "cannot be used: the user, host or database in it has a sign that may begin another part of it"
        raise UnusableLedger(place=f"of {named_by}", found=found, todo=_TODO)
    shown = sa.URL.create("postgresql", username=url.username, host=url.host, port=url.port, database=url.database)
    return LedgerLocation(url=url, place=shown.render_as_string(), from_repo=from_repo)


def _has_stray_at(text: str, url: sa.URL) -> bool:
    """Return whether a password contains an @, so that its rest would be reported as part of the host's name."""
    rest = text.partition("@")[2]
    return "@" in f"{url.host}/{url.database}" or "@" in rest.partition("=")[0]
