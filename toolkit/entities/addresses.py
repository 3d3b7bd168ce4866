"""Checks of the URLs and local paths that stand in the repo."""

from __future__ import annotations

import posixpath
import re

from toolkit.el import ElError, refuse_credentials
from toolkit.entities.env_references import check_password_references
from toolkit.entities.repo import RepoSettings

_USER = r"://(?:\$\{env:[^}]*\}|[^/@:])*+:"
_PASSWORD = re.compile(_USER + r"(?!\$\{env:)[^/@]+@")
_LEDGER_PASSWORD = re.compile(_USER + r"(?!\$\{env:[^}]*\}@)[^@]+@")
"""SQLAlchemy takes a password with slashes, and nothing may stand beside a reference."""

_LEDGERS = "FEEDCTL_LEDGER_"
_VARIABLE = re.compile(r"\$\{env:(?P<name>[^}]*)\}")
_OWN_PASSWORD = re.compile(rf"[\w+]+://[^/@:?]+:\$\{{env:{_LEDGERS}[A-Za-z0-9_]+\}}@")

_OPTION = re.compile(r"(?i)[?&](?:ssl)?password=(?!\$\{env:)[^&]*")
"""Password among libpq's options."""

_LEDGER = re.compile(r"(?P<driver>sqlite|postgresql(?:\+psycopg)?)://(?P<place>.*)")
_SCHEME = re.compile(r"[\w.+-]+://|(?i:sqlite|postgres(?:ql)?)(?:\+\w+)?:")
_SQLITE = "sqlite:///FILE (in the config repo) or sqlite:////FILE (anywhere)"
_POSTGRES = "postgresql://HOST/DATABASE, also as postgresql+psycopg://"
_SQLITE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_AUDIT_SUFFIXES = (".jsonl", ".ndjson", ".json", ".log")
"""Endings of files that no shell, scheduler or interpreter reads by itself; the repo names no others."""
AUDIT_OUTSIDE_RULE = "audit-file-outside"
"""The lint rule whose acceptance by name lets the repo name an audit file outside of itself."""


def check_url(text: str) -> None:
    """An end point: a URL, or host:port, without a password; that of a store also without a user.

    Raises:
        ElError: it is something else.
    """
    refuse_credentials(text)
    _check_blanks(text, "a URL, or host:port, without blanks around it")
    _check_password(text, _PASSWORD)
    check_password_references(text)


def check_ledger(text: str) -> None:
    """A ledger's URL as it may stand in the repo: without a password, and of a file that is plainly a database.

    Raises:
        ElError: it is something else.
    """
    _check_password(text, _LEDGER_PASSWORD)
    _check_password(text, _OPTION)
    check_ledger_url(text)
    if text.startswith("sqlite:") and not text.endswith(_SQLITE_SUFFIXES):
        expected = f"one that ends in {', '.join(_SQLITE_SUFFIXES)}; only FEEDCTL_LEDGER may name another"
        raise ElError(text=text, found="a file of any kind", expected=expected)


def check_ledger_of_repo(text: str) -> None:
    """Check that the repo's ledger on PostgreSQL has its own variable as password, and no options.

    The host of that ledger is the repo's choice: it must not get another secret of the operator, nor weaken how the
    password is proved.

    Raises:
        ElError: it is something else.
    """
    if text.startswith("sqlite:"):
        return
    for each in _VARIABLE.finditer(text):
        if not each["name"].startswith(_LEDGERS):
            expected = f"one of a variable that is there for the ledger: ${{env:{_LEDGERS}PASSWORD}}"
            raise ElError(text=each.group(), found="a reference to a variable of the operator", expected=expected)
    if "?" in text:
        expected = "none: only FEEDCTL_LEDGER, the operator's own, may say sslmode and the like"
        raise ElError(text=_head(text), found="options", expected=expected)
    if not _OWN_PASSWORD.match(text):
        expected = (
            f"USER:${{env:{_LEDGERS}PASSWORD}}@HOST/DATABASE; only FEEDCTL_LEDGER, the operator's own, may name a "
            "ledger with another way to log in"
        )
        raise ElError(text=_head(text), found="no password by reference", expected=expected)


def check_ledger_url(text: str) -> None:
    """A ledger's URL, wherever it is from: a SQLite file or a PostgreSQL database (DESIGN section 6).

    Raises:
        ElError: it is something else; the message shows no more of it than its scheme, since it may hold a password.
    """
    match = _LEDGER.fullmatch(text) if text == text.strip() and text.isprintable() else None
    if match is not None and match["driver"] == "sqlite":
        _check_sqlite(text, match["place"])
    elif match is None or not match["place"]:
        raise ElError(text=_head(text), expected=f"{_SQLITE}, or {_POSTGRES}")


def _head(text: str) -> str:
    """The text's scheme: whatever else is there may be a password, also when it looks like a name or a path."""
    scheme = _SCHEME.match(text)
    return f"{scheme.group() if scheme else ''}..."


def _check_sqlite(text: str, place: str) -> None:
    text = _without_secrets(text)
    if place in {"", "/", "/:memory:"}:
        raise ElError(text=text, found="a ledger in memory, which forgets", expected=_SQLITE)
    if not place.startswith("/"):
        raise ElError(
            text=text,
            position=len("sqlite://"),
            found=text.removeprefix("sqlite://"),
            expected=f"a third slash: {_SQLITE}",
        )
    if place.endswith("/"):
        raise ElError(text=text, found="a folder", expected=f"a file: {_SQLITE}")
    if "?" in place:
        raise ElError(text=text, position=text.index("?"), found="options", expected=f"none: {_SQLITE}")


def check_local_path(text: str) -> None:
    """The path of a file on the machine that the action runs on.

    Raises:
        ElError: it is a URL or a folder, or only a shell would know what it means.
    """
    expected = "the path of a local file, absolute or relative to the config repo"
    _check_blanks(text, expected)
    if "://" in text:
        raise ElError(text=_head(text), found="a URL", expected=expected)
    if text.startswith("~"):
        raise ElError(text=text, position=0, found="~", expected="${env:HOME}")
    if text.endswith("/"):
        raise ElError(text=text, found="a folder", expected=expected)


def check_audit_file(text: str) -> None:
    """The audit file's path as it may stand in the repo, besides being a local one: of a file that no program reads.

    Its lines have text that the repo chooses: in a shell's start file, or a hook of git, they would be commands.

    Raises:
        ElError: it could be a file that some program reads by itself.
    """
    if not text.endswith(_AUDIT_SUFFIXES) or ".git" in text.casefold().split("/"):
        expected = f"one that ends in {', '.join(_AUDIT_SUFFIXES)}, not in .git; only FEEDCTL_AUDIT may name another"
        raise ElError(text=text, found="a file of any kind", expected=expected)


def outside_audit_file(settings: RepoSettings) -> bool:
    """Return whether the repo names an audit file outside of itself without accepting the rule by name.

    A path that is not relative counts as outside: where the repo is, is another matter on each machine.
    """
    if settings.audit_file is None or AUDIT_OUTSIDE_RULE in settings.accept:
        return False
    path = posixpath.normpath(settings.audit_file)
    return path.startswith(("/", "${")) or path.split("/")[0] == ".."


def _check_blanks(text: str, expected: str) -> None:
    if not text or text != text.strip() or not text.isprintable():
        raise ElError(text=text, expected=expected)


def _check_password(text: str, pattern: re.Pattern[str]) -> None:
    secret = pattern.search(text)
    if secret:
        raise ElError(
            text=_without_secrets(text),
            position=secret.start() + len("://") if pattern is not _OPTION else None,
            found="a password",
            expected="a reference such as ${env:NAME}; a secret never stands in the repo",
        )


def _without_secrets(text: str) -> str:
    """A URL as a message may show it; its options may hold any secret."""
    hidden = re.sub(r"://.*@", "://...:...@", text)  # to the last @: a password may have others, and slashes, in it
    base, mark, _ = hidden.partition("?")
    return f"{base.partition('&')[0]}{mark}{'...' if mark else ''}"
