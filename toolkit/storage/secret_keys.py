"""Which Hadoop settings carry a secret, and how a value is shown without one (DESIGN section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolkit.errors import InvalidInput

HIDDEN = "(not shown)"
"""Stands in messages for the value of a setting that carries a secret."""

_WORDS = ("key", "keyid", "secret", "token", "password", "passwd", "passphrase", "credential", "credentials")
_BETWEEN = re.compile(r"[._\s-]+")
_AZURE = "fs.azure."
_AZURE_KEY = "fs.azure.account.key"
_ABOUT = frozenset({"provider", "endpoint", "type", "path", "file", "expiry", "renew", "token"})
"""Behind such a word an Azure setting says where the secret is, or how long it lasts."""

_USER = re.compile(r"(?<!\S)(?P<head>\S*@)(?P<tail>\S*)")
_UP_TO_QUERY = re.compile(r"(?<!\S)\S*\?[^\s\"']*")
"""So that every address which is begun in it has a query, and no text is looked through once for every address."""

_QUERY = re.compile(r"(?P<address>://[^\s?]*)\?[^\s\"']*")
_FAMILIES = "fs."


class SecretInSettings(InvalidInput):
    """A setting carries credentials, which never belong into a repository or a spec that travels.

    Args:
        key: the setting's name.
    """

    def __init__(self, *, key: str) -> None:
        self.key = key
        super().__init__(f"{key.strip()} carries credentials; remove it: they come from {_origin(key)}")


def is_secret(key: str) -> bool:
    """Whether a setting's value is a secret, by the last words of its name.

    ``fs.s3a.secret.key`` is, ``fs.s3a.endpoint`` and ``hadoop.security.credential.provider.path`` are not. On Azure
    the name of the account may stand behind: ``fs.azure.account.key.ACCOUNT.dfs.core.windows.net``.
    """
    name = key.strip().lower()
    parts = [part for part in _BETWEEN.split(name) if part]
    if name.startswith(_AZURE):
        return name.startswith(_AZURE_KEY + ".") or _is_azure_secret(parts)
    if parts[-1:] == ["id"]:
        parts = parts[:-1]
    return any(part.endswith(_WORDS) for part in parts[-1:])


def _is_azure_secret(parts: list[str]) -> bool:
    following = [*parts[1:], ""]
    return any(
        (part == "sas" or part.endswith(_WORDS)) and behind not in _ABOUT
        for part, behind in zip(parts, following, strict=True)
    )


def shown(key: str, value: str) -> str:
    """A setting's value as a message may show it."""
    return HIDDEN if is_secret(key) else repr(without_secrets(value))


def without_secrets(text: str) -> str:
    """The same text, but of addresses neither the user with the password nor the query, which may hold a signature."""
    known = _USER.sub(_without_user, text)
    return _UP_TO_QUERY.sub(lambda word: _QUERY.sub(lambda found: f"{found['address']}?***", word.group()), known)


def _without_user(word: re.Match[str]) -> str:
    """A word with an ``@``, without what stands before that in an address, or a user and a password at its begin."""
    before, scheme, _ = word["head"].partition("://")
    if not scheme and (":" not in before or "://" in word["tail"]):
        return word.group()
    return f"{before if scheme else ''}{scheme}***@{word['tail']}"


def refuse_secrets(keys: Iterable[str]) -> None:
    """Look through the settings that are given to an object store, whichever store they are meant for.

    Raises:
        SecretInSettings: one carries a secret.
    """
    for key in keys:
        if key.strip().lower().startswith(_FAMILIES) and is_secret(key):
            raise SecretInSettings(key=key)


def _origin(key: str) -> str:
    name = key.strip().lower()
    if name.startswith((_AZURE, "fs.abfs")):
        return "the environment (AZURE_STORAGE_ACCOUNT_KEY, AZURE_CLIENT_SECRET ...) or the identity of the machine"
    if name.startswith("fs.gs."):
        return "the environment (GOOGLE_APPLICATION_CREDENTIALS) or the identity of the machine"
    return (
        "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), a profile (AWS_PROFILE) or the "
        "role of the machine; keys of encryption belong into the settings of the bucket"
    )
