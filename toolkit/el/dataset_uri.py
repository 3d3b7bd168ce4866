"""URIs of datasets in canonical form: feeds, data outside of feedctl, and globs over them (Airflow AIP-48)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from urllib.parse import quote, unquote

from toolkit.el.canonical_path import CanonicalPath
from toolkit.el.dataset_credentials import refuse_dataset_credentials
from toolkit.el.errors import ElError

FEED_SCHEME = "feedctl"
"""The scheme of feeds; reserved, as AIP-48 reserves `airflow`."""

LONGEST = 1500
"""Most characters of a canonical URI: as in Airflow, and an index of PostgreSQL takes no much longer entry."""

_NAME = r"[A-Za-z][A-Za-z0-9_-]{0,119}"
_FEED = re.compile(rf"feed/(?P<name>{_NAME})\?cluster=(?P<cluster>{_NAME})")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):")
_REST = re.compile(r"(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?")
_AUTHORITY = re.compile(
    r"(?:(?P<user>[^@]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]@]*)(?::(?P<port>[0-9]*))?",
)

_STORES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasb": "abfs", "wasbs": "abfs"}
"""Aliases of one store's scheme, as in `CanonicalPath`."""
_ROOTED = frozenset({"file", "hdfs", "webhdfs", "swebhdfs", "viewfs", "ofs"})
"""Schemes of file systems, in which doubled slashes are one."""
_DEFAULT_PORTS = {
    "http": "80",
    "https": "443",
    "ftp": "21",
    "sftp": "22",
    "hdfs": "8020",
    "hive": "10000",
    "thrift": "9083",
    "postgresql": "5432",
    "postgres": "5432",
    "mysql": "3306",
    "kafka": "9092",
}

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ALLOWED = _UNRESERVED | frozenset("!$&'()*+,;=:@/?%")
_GLOB = frozenset("*?[]")
_ESCAPE = re.compile(r"%(?P<hex>[0-9A-Fa-f]{2})?")


@dataclass(frozen=True, order=True, slots=True)
class DatasetUri:
    """A dataset, that is a whole series; equal values are the same dataset.

    Args:
        text: the canonical form, which the ledger stores.
        feed: name of the feed; None: data that is no feed.
        cluster: of the feed; None likewise.
    """

    text: str
    feed: str | None = None
    cluster: str | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def scheme(self) -> str:
        """The scheme; empty for a plain name."""
        found = _SCHEME.match(self.text)
        return found["scheme"] if found else ""

    def storage_path(self) -> CanonicalPath:
        """Return the path in a store that the URI names.

        Raises:
            ElError: the scheme is not that of a store, or the URI has a query or a fragment.
        """
        if "?" in self.text or "#" in self.text:
            raise ElError(text=self.text, expected="the path of a store, without a query or fragment")
        address = unquote(self.text)
        if self.scheme == "s3":
            address = re.sub(r"^s3://[^/@]*@", "s3://", address)
        has_path = address.count("/") > 2 or "//" not in address  # noqa: PLR2004 - the slash behind the authority
        return CanonicalPath.parse(address if has_path else f"{address}/")


@dataclass(frozen=True, slots=True)
class DatasetGlob:
    """A glob of URIs: `*` is any text (slashes too), `?` one character, `[abc]` one of these.

    Args:
        text: in canonical form, as far as it has one.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    def matches(self, uri: str) -> bool:
        """Return whether the canonical text of a dataset's URI matches."""
        return _compiled(self.text).match(uri) is not None

    def among(self, uris: Sequence[str]) -> Iterator[str]:
        """Yield the texts that match, of many; only those with the same beginning are compared.

        Args:
            uris: canonical texts, sorted.
        """
        begin = re.split(r"[*?\[]", self.text, maxsplit=1)[0]
        pattern = _compiled(self.text)
        for position in range(bisect_left(uris, begin), len(uris)):
            uri = uris[position]
            if not uri.startswith(begin):
                return
            if pattern.match(uri) is not None:
                yield uri


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def feed_uri(name: str, cluster: str) -> str:
    """Return the URI of the dataset that a feed is on a cluster."""
    return f"{FEED_SCHEME}:feed/{name}?cluster={cluster}"


def path_uri(path: CanonicalPath) -> str:
    """Return the canonical URI of a path in a store; where one was written, `parse` gives the same text."""
    authority = quote(path.authority, safe="@:[]!$&'()*+,;=")
    return parse(f"{path.scheme}://{authority}{quote(path.path, safe=_SAFE_IN_PATH)}").text


_SAFE_IN_PATH = "/!$&'()*+,;=:@"


def is_glob(text: str) -> bool:
    """Return whether a text of a trigger is a glob of URIs rather than one URI.

    A `?` begins the query of a URI (`?cluster=primary`) where a `=` follows, else it is a wildcard.
    """
    address = re.sub(r"^([A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?)\[[0-9A-Fa-f:.]+\]", r"\1", text)
    _, mark, query = address.partition("?")
    return "*" in text or "[" in address or (bool(mark) and "=" not in query)


def parse(text: str) -> DatasetUri:
    """Return the dataset of a URI that a user wrote.

    Scheme and host are in lower case, default ports and trailing slashes are dropped, `%` escapes and dot segments
    are resolved, query parameters are sorted; the schemes of one object store are one (`s3a` is `s3`).

    Args:
        text: an absolute URI, or a plain name such as ``my-dataset``.

    Raises:
        DatasetCredentials: it has credentials in it.
        ElError: it is no valid URI, or has a reserved scheme.
    """
    return _parse(text)


@lru_cache(maxsize=4096)
def _parse(text: str) -> DatasetUri:
    canonical = _canonical(text, allow_glob=False)
    scheme, rest = _split(canonical)
    if scheme == FEED_SCHEME:
        found = _FEED.fullmatch(rest)
        if found is None:
            raise ElError(
                text=text, position=0, expected="the URI of a feed, such as feedctl:feed/clicks?cluster=primary"
            )
        return DatasetUri(canonical, found["name"], found["cluster"])
    return DatasetUri(canonical)


def parse_glob(text: str) -> DatasetGlob:
    """Return the glob of a text for which `is_glob` is true.

    Raises:
        DatasetCredentials: it has credentials in it.
        ElError: it has characters that no URI has, or a reserved scheme.
    """
    return DatasetGlob(_canonical(text, allow_glob=True))


def _canonical(text: str, *, allow_glob: bool) -> str:
    scheme, rest = _split(text)
    scheme = _STORES.get(scheme.lower(), scheme.lower())
    if scheme == "airflow":
        raise ElError(
            text=_shown(text), position=0, found="airflow", expected="another scheme: Airflow reserves this one"
        )
    found = _REST.fullmatch(rest)
    if found is None:
        raise ElError(text=_shown(text), expected="a URI of one line")
    if allow_glob:
        # A `?` is a wildcard here; a query parameter behind it is compared as it stands.
        path, query, fragment = rest.removeprefix(f"//{found['authority'] or ''}"), None, None
        path = path if found["authority"] is not None else rest
    else:
        path, query, fragment = found["path"], found["query"], found["fragment"]
    refuse_dataset_credentials(scheme, rest)
    if found["authority"] is not None and not scheme:
        raise ElError(text=_shown(text), found="'//' without a scheme", expected="scheme://host/path")
    authority = None if found["authority"] is None else _authority(scheme, found["authority"], text)
    allowed = _ALLOWED | _GLOB if allow_glob else _ALLOWED
    shown_path = _path(scheme, authority, _normalised(path, text, allowed), text)
    shown_query = "" if query is None else f"?{_query(query, text)}"
    shown_fragment = f"#{_normalised(fragment, text, _ALLOWED)}" if fragment else ""
    host = "" if authority is None else f"//{authority}"
    canonical = f"{scheme}:{host}" if scheme else host
    return _checked(f"{canonical}{shown_path}{shown_query}{shown_fragment}", text)


def _split(text: str) -> tuple[str, str]:
    """Return the scheme and what follows its colon."""
    found = _SCHEME.match(text)
    return (found["scheme"], text[found.end() :]) if found else ("", text)


def _checked(canonical: str, text: str) -> str:
    if len(canonical) > LONGEST:
        raise ElError(text=f"{text[:60]}...", found=f"{len(canonical)} characters", expected=f"at most {LONGEST}")
    scheme, rest = _split(canonical)
    if not rest.strip("/") and scheme != "file":
        raise ElError(text=text, expected="a URI such as s3://bucket/orders, or a name such as my-dataset")
    return canonical


def _authority(scheme: str, written: str, text: str) -> str:
    found = _AUTHORITY.fullmatch(written)
    if found is None:
        raise ElError(text=_shown(text), found=f"the host {written!r}", expected="a host, with a port at most")
    user = "" if found["user"] is None else f"{_normalised(found['user'], text, _ALLOWED - frozenset('/?@:'))}@"
    is_address = found["host"].startswith("[")
    host = found["host"] if is_address else _normalised(found["host"], text, _ALLOWED - frozenset("/?@:"))
    host = host.lower() if "%" not in host else _lower_outside_escapes(host)
    if scheme == "abfs":
        host = re.sub(r"^([^.]+)\.blob(?=\.)", r"\1.dfs", host)
        user = user.lower()
    if scheme == "file" and host == "localhost":
        host = ""
    port = found["port"] or ""
    port = str(int(port)) if port else ""
    is_default = port in {"", _DEFAULT_PORTS.get(scheme)}
    if not host and scheme != "file":
        raise ElError(text=_shown(text), found="no host", expected="a host, bucket or connection behind //")
    return f"{user}{host}" if is_default else f"{user}{host}:{port}"


def _lower_outside_escapes(host: str) -> str:
    return re.sub(r"%[0-9A-F]{2}|[^%]+", lambda each: each[0] if each[0].startswith("%") else each[0].lower(), host)


def _path(scheme: str, authority: str | None, path: str, text: str) -> str:
    """Return a normalised path without dot segments and trailing slashes."""
    names = path.split("/")
    is_absolute = path.startswith("/")
    kept: list[str] = []
    for name in names[1:] if is_absolute else names:
        if name == "..":
            del kept[-1:]
        elif name != "." and (name or scheme not in _ROOTED):
            kept.append(name)
    resolved = "/".join(kept).rstrip("/")
    if is_absolute and (resolved or authority is None or scheme == "file"):
        resolved = f"/{resolved}"
    if authority is None and resolved.startswith("//"):
        raise ElError(text=_shown(text), found="'//' without a scheme and host", expected="scheme://host/path")
    if authority is None and not is_absolute and resolved.startswith("/"):
        raise ElError(text=_shown(text), found="an empty first name", expected="a name or an absolute path")
    if not scheme and ":" in resolved.partition("/")[0]:
        raise ElError(text=_shown(text), found="':' in a name without a scheme", expected="%3A for it")
    return f"//{resolved}" if scheme == "file" and authority is None and is_absolute else resolved


def _query(query: str, text: str) -> str:
    """Return the parameters, sorted.

    Raises:
        ElError: one is no KEY=VALUE.
    """
    pairs: list[tuple[str, str]] = []
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals or not key:
            expected = "KEY=VALUE behind a '?'; a glob is allowed as an entry of a trigger alone"
            raise ElError(text=_shown(text), found=f"the query {part!r}", expected=expected)
        pairs.append((_normalised(key, text, _ALLOWED), _normalised(value, text, _ALLOWED)))
    if not pairs:
        raise ElError(text=_shown(text), found="an empty query", expected="KEY=VALUE behind a '?'")
    return "&".join(f"{key}={value}" for key, value in sorted(pairs))


def _normalised(part: str, text: str, allowed: frozenset[str]) -> str:
    """Return a part with `%` escapes of one spelling: in capitals, and only for what needs them."""
    for char in part:
        if char not in allowed and char.isascii():
            position = text.find(char)
            found, hint = f"the character {char!r}", f"%{ord(char):02X} for it"
            raise ElError(text=_shown(text), position=max(position, 0), found=found, expected=hint)
    try:
        encoded = "".join(each if each.isascii() else quote(each, safe="") for each in part)
    except UnicodeEncodeError as error:
        raise ElError(text=repr(text), found="half a character", expected="text in UTF-8") from error
    return _ESCAPE.sub(lambda found: _escape(found, text), encoded)


def _escape(found: re.Match[str], text: str) -> str:
    if found["hex"] is None:
        raise ElError(text=_shown(text), found="'%' without two hexadecimal digits", expected="%25 for a percent sign")
    char = chr(int(found["hex"], 16))
    return char if char in _UNRESERVED else found[0].upper()


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:60]}..."
