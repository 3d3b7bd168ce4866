"""Conversion of the texts of Falcon's XML to YAML values (Falcon entity specification and overview, feature list)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from toolkit.entities import SchemaName, schema
from toolkit.entities.documents import Value
from toolkit.migration.draft import CannotConvert, Convert, Converted, as_is

_MINUTE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def whole_number(text: str) -> Converted:
    """A number without a fraction."""
    if not re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
        expected = "a whole number"
        raise CannotConvert(expected)
    return Converted(int(text))


def boolean(text: str) -> Converted:
    """`true` or `false`, as XML Schema writes them."""
    if text.lower() not in _BOOLEANS:
        expected = "true or false"
        raise CannotConvert(expected)
    return Converted(_BOOLEANS[text.lower()])


def instant(text: str) -> Converted:
    """An instant; the specification also shows ends without the Z that they all mean."""
    if _MINUTE.fullmatch(text):
        return Converted(f"{text}Z", "times are UTC; the Z is written down")
    return Converted(text)


def words(text: str) -> Converted:
    """A list with commas."""
    return Converted([each.strip() for each in text.split(",") if each.strip()])


def tags(text: str) -> Converted:
    """``key=value, key=value``."""
    found: dict[str, Value] = {}
    for pair in filter(None, (each.strip() for each in text.split(","))):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key or key in found:
            expected = "key=value, key=value with each key once"
            raise CannotConvert(expected)
        found[key] = value
    return Converted(found)


def permission(text: str) -> Converted:
    """Octal; Falcon writes ``0x755`` for it."""
    if re.fullmatch(r"0x[0-7]{3}", text):
        return Converted(f"0{text[2:]}", f"octal: {text} is Falcon's way to write 0{text[2:]}")
    return Converted(text)


def choice(known: Mapping[str, str]) -> Convert:
    """A word of a closed set, whatever its case; dashes and underscores are alike.

    Args:
        known: the words of the YAML by those of the XML, in lower case without dashes and underscores.
    """

    def convert(text: str) -> Converted:
        plain = re.sub(r"[-_]", "", text.lower())
        if plain not in known:
            expected = f"one of {', '.join(dict.fromkeys(known.values()))}"
            raise CannotConvert(expected)
        is_same = text.replace("-", "_") == known[plain]
        return Converted(known[plain], "" if is_same else f"{text} is written {known[plain]}")

    return convert


def _own_words(*texts: str) -> Mapping[str, str]:
    return {re.sub(r"[-_]", "", each.lower()): each for each in texts}


order = choice({**_own_words("FIFO", "LIFO", "LAST_ONLY"), "onlylast": "LAST_ONLY"})
retry_policy = choice(_own_words("periodic", "backoff", "exp_backoff"))
late_policy = choice(_own_words("periodic", "backoff", "exp_backoff", "final"))
retention_policy = choice(_own_words("age_based_delete"))
role = choice(_own_words("source", "target"))

_DIALECT = {"yyyy": "YEAR", "MM": "MONTH", "dd": "DAY", "HH": "HOUR", "mm": "MINUTE"}
_BRACED = re.compile(r"\$\{(yyyy|MM|dd|HH|mm)\}")
_BARE = re.compile(r"(?<![A-Za-z])yyyy(?:[-/_.]?MM(?:[-/_.]?dd(?:[-/_.]?HH(?:[-/_.]?mm)?)?)?)?(?![A-Za-z])")
_WORD = re.compile(r"yyyy|MM|dd|HH|mm")
_OWN_STORE = re.compile(r"\$\{(?:nameNode|cluster\.nameNode)\}(?=/)")


def template(text: str) -> Converted:
    """A path or a table with dates: both of Falcon's ways to write them, and its prefix for the cluster's own store."""
    dated = _BRACED.sub(lambda found: f"${{{_DIALECT[found[1]]}}}", text)
    if not re.search(r"\$\{YEAR\}", dated):
        dated = _BARE.sub(lambda bare: _WORD.sub(lambda found: f"${{{_DIALECT[found[0]]}}}", bare[0]), dated)
    plain = _OWN_STORE.sub("", dated)
    notes = []
    if dated != text:
        notes.append("dates in paths are written ${YEAR}, ${MONTH}, ${DAY}, ${HOUR}, ${MINUTE}")
    if plain != dated:
        notes.append("a path without a scheme is on the cluster's own file system")
    return Converted(plain, "; ".join(notes))


def table(text: str) -> Converted:
    """A table URI; Falcon's may end with a semicolon."""
    converted = template(text)
    uri = str(converted.value).rstrip(";")
    return Converted(uri, converted.note or ("the last key ends without a semicolon" if uri != text else ""))


_HFTP = {"hftp": "webhdfs", "hsftp": "swebhdfs"}
_STOMP = {
    "tcp": ("stomp", 61613),
    "nio": ("stomp", 61613),
    "ssl": ("stomp+ssl", 61612),
    "nio+ssl": ("stomp+ssl", 61612),
}
_ADDRESS = re.compile(r"(?P<scheme>[a-z+]+)://(?P<host>[A-Za-z0-9_.-]+)(?::\d+)?(?:[/?].*)?")


def readonly_endpoint(text: str) -> Converted:
    """Return the end point that replication reads; hftp is gone from Hadoop 3, and WebHDFS has its port."""
    scheme, separator, rest = text.partition("://")
    if separator and scheme in _HFTP:
        return Converted(f"{_HFTP[scheme]}://{rest}", f"{scheme} is gone from Hadoop 3; {_HFTP[scheme]} took its place")
    return Converted(text)


def messaging_endpoint(text: str) -> Converted:
    """A broker's STOMP connector in the place of OpenWire's.

    Raises:
        CannotConvert: it is none of one broker, for example ``failover:(...)`` or ``vm://``.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or found["scheme"] not in _STOMP:
        expected = "tcp://HOST:PORT or ssl://HOST:PORT"
        raise CannotConvert(expected)
    scheme, port = _STOMP[found["scheme"]]
    note = f"messages go by STOMP, which is on port {port} of ActiveMQ unless it was changed"
    return Converted(f"{scheme}://{found['host']}:{port}", note)


def _typed(kind: SchemaName) -> dict[str, Convert]:
    """Return how the properties with a meaning are read, by the schema's types."""
    special: dict[str, Convert] = {
        "order": order,
        "feed.retry.policy": retry_policy,
        "feed.late.policy": late_policy,
    }
    by_type: dict[str, Convert] = {"integer": whole_number, "boolean": boolean}
    known = schema(kind)["properties"]["properties"].get("properties", {})
    return {name: special.get(name, by_type.get(each["type"], as_is)) for name, each in known.items()}


def property_value(kind: SchemaName, name: str, text: str) -> Converted:
    """The value of a property: text, unless it has a meaning of another type."""
    converted = _PROPERTIES[kind].get(name, as_is)(text)
    if name == "skipChecksum" and converted.value is True:
        return replace(
            converted, note="it has no effect: files are compared by size and time, and a digest of each is kept"
        )
    return converted


_PROPERTIES = {kind: _typed(kind) for kind in (SchemaName.FEED, SchemaName.PROCESS)}
