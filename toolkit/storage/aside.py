"""The name of a directory under removal: hidden from readers, and found again by a rerun."""

from __future__ import annotations

import hashlib
import os

ASIDE_PREFIX = ".feedctl-evicting-"
"""A directory under removal has this in front of its name, so that no reader takes it for an instance."""

_LONGEST_NAME = 255
_HASHED = "sha256-"


def aside_name(name: str) -> str:
    """The name that a directory gets while it is removed: always the same for a name, and never too long."""
    aside = ASIDE_PREFIX + name
    if len(os.fsencode(aside)) <= _LONGEST_NAME:
        return aside
    return f"{ASIDE_PREFIX}{_HASHED}{hashlib.sha256(os.fsencode(name)).hexdigest()}"


def name_behind(aside: str) -> str | None:
    """The name that the directory had; None when it was too long to be kept in the aside's name."""
    name = aside.removeprefix(ASIDE_PREFIX)
    is_digest = name.startswith(_HASHED) and len(name) == len(_HASHED) + hashlib.sha256().digest_size * 2
    return None if is_digest else name
