"""Names of partitions, ``ds=2026-03-01/region=us``, escaped exactly as Hive does (its `FileUtils.escapePathName`).

A metastore keeps such a name beside the values, and a partition's default directory has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

NULL = "__HIVE_DEFAULT_PARTITION__"
"""The value that stands for null, and for an empty text."""
_ESCAPED = re.compile(r"""[\x00-\x1f"#%'*/:=?\\\x7f{\[\]^]""")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")


def escape(text: str) -> str:
    """The text as Hive writes it in a name: each special character as ``%`` and two hexadecimal digits.

    An empty text becomes `NULL`.
    """
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text) or NULL


def unescape(text: str) -> str:
    """Return the text that `escape` got, unless it was empty; a ``%`` without two digits stays as it is."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def joined_name(keys: Iterable[str], values: Iterable[str]) -> str:
    """The name of the partition with these values, one for each key in the table's order; keys become lower case."""
    return "/".join(f"{escape(key.lower())}={escape(value)}" for key, value in zip(keys, values, strict=True))


def split_name(name: str) -> dict[str, str]:
    """Key to value of a partition's name, in its order.

    Raises:
        ValueError: it is no such name: a part has no ``=``, or a key comes twice.
    """
    parts = [part.partition("=") for part in name.split("/")]
    found = {unescape(key): unescape(value) for key, equals, value in parts if key and equals}
    if len(found) < len(parts):
        message = f"{name!r} is no name of a partition, expected KEY=VALUE/KEY=VALUE, each key once"
        raise ValueError(message)
    return found


def values_of(name: str) -> tuple[str, ...]:
    """The values of a partition's name, in its order.

    Raises:
        ValueError: as `split_name`.
    """
    return tuple(split_name(name).values())


def values_by_key(name: str, keys: Iterable[str]) -> dict[str, str]:
    """The values of those keys that the name has, under the keys in the spelling given: Hive writes them in lower case.

    Raises:
        ValueError: as `split_name`.
    """
    found = split_name(name)
    return {key: found[key.lower()] for key in keys if key.lower() in found}


def matching_names(names: Sequence[str], matching: Mapping[str, str]) -> tuple[str, ...]:
    """The names whose values, as texts, are those asked for; keys that are not asked for may have any value.

    Raises:
        ValueError: as `split_name`.
    """
    wanted = matching.items()
    return tuple(each for each in names if wanted <= split_name(each).items()) if matching else tuple(names)
