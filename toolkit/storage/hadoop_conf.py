"""Hadoop's settings, and secrets that must not be among them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from toolkit.errors import InvalidInput
from toolkit.variables import Variables

if TYPE_CHECKING:
    from toolkit.storage.port import StorageSpec


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
    """Return whether a setting's value is a secret, by the last words of its name.

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


CONF_VARIABLE = "HADOOP_CONF_DIR"
"""Environment variable that names the directory of Hadoop's own files."""
CONF_FILES = ("core-site.xml", "hdfs-site.xml")
"""Files that are read; the later one counts."""


class NoHadoopConfDir(InvalidInput):
    """HADOOP_CONF_DIR names no directory that can be looked into: its user counts on what is there.

    Args:
        value: of the variable.
        found: what is wrong with it.
    """

    def __init__(self, *, value: str, found: str) -> None:
        self.value, self.found = value, found
        super().__init__(
            f"{CONF_VARIABLE}={value}: {found}, expected a directory with {' and '.join(CONF_FILES)}; "
            f"correct {CONF_VARIABLE}, or unset it"
        )


class UnreadableHadoopConf(InvalidInput):
    """A file of HADOOP_CONF_DIR is no Hadoop configuration.

    Args:
        file: the file.
        found: what is wrong with it.
    """

    def __init__(self, *, file: Path, found: str) -> None:
        self.file, self.found = file, found
        super().__init__(f"{file}: no Hadoop configuration ({found}); correct it, or unset HADOOP_CONF_DIR")


def conf_dir(environment: Variables) -> Path | None:
    """The directory of Hadoop's own files, HADOOP_CONF_DIR or `etc/hadoop` in HADOOP_HOME; None: there is none.

    The library of `hdfs:` reads the second one as well, so what is decided here must know it.

    Raises:
        NoHadoopConfDir: what it names is none, or may not be looked into.
    """
    value = environment.get(CONF_VARIABLE, "")
    if not value:
        return _of_home(environment)
    if not os.access(value, os.F_OK) or not Path(value).is_dir():
        raise NoHadoopConfDir(value=value, found="found no directory there")
    if not os.access(value, os.X_OK):
        raise NoHadoopConfDir(value=value, found="found a directory that this user may not look into")
    return Path(value)


def hadoop_settings(spec: StorageSpec, environment: Variables) -> Mapping[str, str]:
    """Return all settings of the store, by their Hadoop names.

    Args:
        spec: which store; its own settings win.
        environment: says where HADOOP_CONF_DIR is; none is fine, and so are files that are missing in it.

    Raises:
        NoHadoopConfDir: it names no directory.
        UnreadableHadoopConf: a file there can't be read.
    """
    return {**operator_settings(environment), **spec.hadoop_conf}


def operator_settings(environment: Variables) -> Mapping[str, str]:
    """Only what the files say: they are the operator's, while `hadoop_conf` may come with a pull request.

    Raises:
        NoHadoopConfDir: HADOOP_CONF_DIR names no directory.
        UnreadableHadoopConf: a file there can't be read.
    """
    directory = conf_dir(environment)
    return _of_files([] if directory is None else [directory / name for name in CONF_FILES])


def asks_for_kerberos(settings: Mapping[str, str]) -> bool:
    """Return whether a cluster requires Kerberos; an unknown value may mean so."""
    return settings.get("hadoop.security.authentication", "").strip().lower() not in {"", "simple"}


def settings_read(environment: Variables) -> str:
    """Return the places where `hadoop_settings` looked, in words."""
    value = environment.get(CONF_VARIABLE, "")
    own = "hadoop_conf of the cluster"
    return f"{CONF_VARIABLE}={value} and {own}" if value else f"{own} ({CONF_VARIABLE} is not set)"


def _of_home(environment: Mapping[str, str]) -> Path | None:
    home = environment.get("HADOOP_HOME", "")
    directory = Path(home, "etc", "hadoop")
    return directory if home and directory.is_dir() else None


def _of_files(files: Iterable[Path]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for file in files:
        settings.update(_of_file(file))
    return settings


def _of_file(file: Path) -> dict[str, str]:
    try:
        root = ET.fromstring(file.read_bytes())  # noqa: S314 - the operator's own file
    except FileNotFoundError:
        return {}
    except (OSError, ET.ParseError) as error:
        raise UnreadableHadoopConf(file=file, found=str(error)) from error
    named = ((prop.findtext("name"), prop.findtext("value")) for prop in root.iter("property"))
    return {name.strip(): (value or "").strip() for name, value in named if name}
