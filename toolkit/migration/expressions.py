"""Calls of Falcon's functions that feedctl's expressions do not have: they are left to the owner."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from toolkit.el import ElError, OutOfRange, evaluate
from toolkit.entities import Pointer
from toolkit.migration.draft import Draft
from toolkit.migration.xml_tree import Fact

_CALL = re.compile(r"\$\{([^{}(]*)\(([^{}]*)\}")
_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)
"""Time of trial calls that show whether a function is known, callable here, and independent of the instance."""


def leave_calls(draft: Draft, source: Fact, pointer: Pointer, what: str) -> None:
    """Leave to the owner what a value calls and feedctl cannot evaluate.

    Args:
        draft: the entity.
        source: the value.
        pointer: of the value in the merged document.
        what: the value in words, for example ``the property 'day'``.
    """
    unknown = [each[1].strip() for each in _CALL.finditer(source.text) if not _has_value(f"{each[1]}({each[2]}")]
    if unknown:
        calls = ", ".join(dict.fromkeys(each[:40] for each in unknown))
        draft.todo(
            source,
            pointer,
            f"{what} calls {calls}, which feedctl cannot evaluate there: no instance gets the value that Falcon gave "
            "it; let the step compute it from nominalTime, or write the value itself",
        )


def _has_value(call: str) -> bool:
    try:
        evaluate(call.strip(), _ANY_TIME)
    except OutOfRange:
        return True
    except ElError:
        return False
    return True
