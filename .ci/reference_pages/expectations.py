"""docs/reference/expectations.md: the types of expectations that suites may have, with their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reference_pages.markdown import code, page, table
from toolkit.entities.expectation_types import ExpectationType, expectation_types

_INTRODUCTION = """
The types of Great Expectations' core that Spark can evaluate, for `expectations[].type` of a suite, and what may stand
in `kwargs`; arguments in bold must be given. `mostly` is the part of the rows, from 0 to 1, for which it must hold.
`row_condition` chooses the rows that it is about, and `condition_parser` says how that is written:
`great_expectations` compares a column, as in `col("country") == "DE"`. `spark` is SQL, as is `unexpected_rows_query`:
lint and runs refuse it unless the operator sets `FEEDCTL_ALLOW_SUITE_SQL=1`.

[suite](entities.md#suite) describes the files, and [quality checks](../concepts/quality-checks.md) how a feed names
them.
"""


def expectations_page() -> str:
    """The page."""
    known = expectation_types()
    rows = ([code(name), _arguments(each)] for name, each in known.items() if each.on_spark)
    others = ", ".join(code(name) for name, each in known.items() if not each.on_spark)
    return page(
        "Types of expectations",
        _INTRODUCTION,
        table(("type", "arguments"), rows),
        f"Great Expectations has these for databases or pandas alone; lint has an error for each: {others}.",
    )


def _arguments(kind: ExpectationType) -> str:
    return ", ".join(
        (f"**{code(name)}**" if name in kind.required else code(name)) + _values(schema)
        for name, schema in sorted(kind.arguments.items(), key=lambda each: each[0] not in kind.required)
    )


def _values(schema: Mapping[str, Any]) -> str:
    return f" ({', '.join(map(code, schema['enum']))})" if "enum" in schema else ""
