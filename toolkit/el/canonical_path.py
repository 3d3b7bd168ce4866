"""`CanonicalPath`: the only path type that is used for comparing or deleting (DESIGN section 5; USERS ask 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from toolkit.el.errors import ElError, refuse_credentials

_URI = re.compile(r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/]*))?)?(?P<path>.*)", re.DOTALL)

_SCHEMES = {
    "file": "file",
    "hdfs": "hdfs",
    "webhdfs": "webhdfs",
    "swebhdfs": "swebhdfs",
    "viewfs": "viewfs",
    "ofs": "ofs",
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "abfs": "abfs",
    "abfss": "abfs",
    "wasb": "abfs",
    "wasbs": "abfs",
}
"""Scheme as written to canonical scheme; the aliases of one kind of store are one scheme."""

_OBJECT_STORES = frozenset({"s3", "gs", "abfs"})
_HDFS_DEFAULT_PORT = ":8020"
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, order=True, slots=True)
class CanonicalPath:
    """An absolute, normalised path of one store; equal values are the same place.

    Args:
        scheme: canonical scheme (``s3`` for s3a and s3n, ``abfs`` for wasb).
        authority: host and port, name service or bucket; empty for `file`. The default port of HDFS is left out.
        path: absolute, without ``.``, ``..``, doubled or trailing slashes; ``/`` is the root.
    """

    scheme: str
    authority: str
    path: str

    @classmethod
    def parse(cls, text: str, default_fs: str | None = None, aliases: Mapping[str, str] = _NO_ALIASES) -> CanonicalPath:
        """Resolve a path as a user or a listing gives it.

        Args:
            text: ``/a/b``, ``hdfs:/a``, ``hdfs://host:8020/a/``, ``s3a://bucket/a``, ``file:///a`` ...
            default_fs: the store that a path without scheme, or with a scheme but no authority, belongs to (a
                cluster's write endpoint). A directory in it is the root of the paths without a scheme.
            aliases: authorities of HDFS that are one store with a name service, see `name_service_aliases`.

        Raises:
            ElError: what cannot be resolved: a relative path, an unknown scheme, a missing authority, ``..``; or an
                address with credentials.
        """
        refuse_credentials(text)
        match = _URI.fullmatch(text)
        if match is None or not match["path"].startswith("/"):
            raise ElError(text=text, position=0, expected="an absolute path ('/...') or a URI ('hdfs://host/...')")
        if match["scheme"] is None:
            return _rooted(cls._default(text, default_fs, aliases), match["path"], text)
        scheme = _scheme(match["scheme"], text)
        written = match["authority"] or cls._authority_of(default_fs, scheme, text)
        authority = _authority(scheme, written, text)
        if scheme == "hdfs":
            authority = aliases.get(authority, authority)
        return cls(scheme, authority, _normalised(scheme, match["path"], text))

    @classmethod
    def _default(cls, text: str, default_fs: str | None, aliases: Mapping[str, str] = _NO_ALIASES) -> CanonicalPath:
        if default_fs is None:
            raise ElError(text=text, position=0, expected="a scheme such as hdfs:// or file:// (no default is known)")
        return _store(default_fs, tuple(aliases.items()))

    @classmethod
    def _authority_of(cls, default_fs: str | None, scheme: str, text: str) -> str:
        if scheme == "file":
            return ""
        default = None if default_fs is None else cls._default(text, default_fs)
        if default is None or default.scheme != scheme:
            raise ElError(text=text, position=len(scheme) + 1, expected="'//' and the host, name service or bucket")
        return default.authority

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def in_object_store(self) -> bool:
        """True if the store has objects under keys rather than directories (S3, GCS, Azure)."""
        return self.scheme in _OBJECT_STORES

    @property
    def is_local(self) -> bool:
        """True if the machine itself has the store mounted."""
        return self.scheme == "file"

    @property
    def name(self) -> str:
        """The last name of the path; empty for the root."""
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> CanonicalPath:
        """The directory that holds this path; the root is its own parent."""
        return CanonicalPath(self.scheme, self.authority, self.path.rpartition("/")[0] or "/")

    @property
    def root(self) -> CanonicalPath:
        """The root of the store that the path is on."""
        return CanonicalPath(self.scheme, self.authority, "/")

    def child(self, name: str) -> CanonicalPath:
        """The path of a name in this directory.

        Raises:
            ElError: the name is empty, has a slash, or is ``.`` or ``..``.
        """
        if not is_name(name):
            raise ElError(text=name, position=0, expected="one name, without a slash")
        return CanonicalPath(self.scheme, self.authority, f"{self.path.removesuffix('/')}/{name}")

    def is_within(self, other: CanonicalPath) -> bool:
        """Return whether this path lies strictly below the other; a path is not within itself."""
        same_store = (self.scheme, self.authority) == (other.scheme, other.authority)
        return same_store and self.path != other.path and self.path.startswith(other.path.removesuffix("/") + "/")

    def relative_to(self, other: CanonicalPath) -> str:
        """The names from the other path down to this one.

        Raises:
            ElError: this path does not lie below the other.
        """
        if not self.is_within(other):
            raise ElError(text=str(self), position=0, expected=f"a path below {other}")
        return self.path[len(other.path.removesuffix("/")) + 1 :]

    def meets(self, other: CanonicalPath) -> bool:
        """Return whether the two paths are equal, or one lies below the other."""
        return self == other or self.is_within(other) or other.is_within(self)

    def moved(self, base: CanonicalPath, to: CanonicalPath) -> CanonicalPath:
        """Return where this path is when `base`, at or above it, has the path `to`; elsewhere it stays as it is."""
        if self == base:
            return to
        if not self.is_within(base):
            return self
        for name in self.relative_to(base).split("/"):
            to = to.child(name)
        return to


def is_name(text: str) -> bool:
    """Return whether a text can be a name in a path; object keys allow more (``a//b``, ``a/../b``)."""
    return bool(text) and "/" not in text and text not in {".", ".."} and "\0" not in text


def _rooted(root: CanonicalPath, path: str, text: str) -> CanonicalPath:
    """The path below a store's root directory."""
    below = _normalised(root.scheme, path, text)
    joined = (root.path.removesuffix("/") + below).removesuffix("/") or "/"
    return CanonicalPath(root.scheme, root.authority, joined)


def _has_path(uri: str) -> bool:
    match = _URI.fullmatch(uri)
    return match is not None and match["path"].startswith("/")


def _scheme(written: str, text: str) -> str:
    scheme = _SCHEMES.get(written.lower())
    if scheme is None:
        raise ElError(text=text, position=0, found=written, expected=f"one of the schemes {', '.join(_SCHEMES)}")
    return scheme


def _authority(scheme: str, written: str, text: str) -> str:
    if scheme == "file":
        if written not in {"", "localhost"}:
            raise ElError(text=text, position=len("file://"), found=written, expected="no host: file:///path")
        return ""
    if scheme == "abfs":
        return _container(written)
    if scheme in _OBJECT_STORES:
        return written
    authority = written.lower()
    return authority.removesuffix(_HDFS_DEFAULT_PORT) if scheme == "hdfs" else authority


def _container(written: str) -> str:
    """Return the name of a container of Azure, which `abfs` and `wasb` reach by two hosts of one account."""
    container, at, host = written.rpartition("@")
    account, dot, rest = host.lower().partition(".")
    return f"{container}{at}{account}{dot}{re.sub('^blob(?=[.])', 'dfs', rest)}"


@lru_cache(maxsize=256)
def _store(default_fs: str, aliases: tuple[tuple[str, str], ...]) -> CanonicalPath:
    """Return the root of a default file system; cached, since all paths of a cluster have the same."""
    written = default_fs if _has_path(default_fs) else default_fs + "/"
    return CanonicalPath.parse(written, aliases=dict(aliases))


def _normalised(scheme: str, path: str, text: str) -> str:
    is_plain = path.startswith("/") and not path.endswith("/")
    if is_plain and "//" not in path and "/." not in path and "\0" not in path:
        return path  # as nearly all are, of which a table has very many
    names = path.split("/")
    if ".." in names or "\0" in path:
        position = text.find("..") if ".." in names else text.find("\0")
        raise ElError(text=text, position=max(position, 0), expected="a path without '..' and NUL")
    if scheme in _OBJECT_STORES and ("//" in path or "." in names):
        position = max(text.rfind("//"), 0)
        raise ElError(text=text, position=position, expected="a key without '//' and '.': they are different objects")
    return "/" + "/".join(name for name in names if name not in {"", "."})
