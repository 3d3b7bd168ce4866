"""docs/reference/rules.md: what `feedctl lint` looks for, rule by rule."""

from __future__ import annotations

import json
from collections.abc import Iterator

from reference_pages.markdown import code, meanings, page, prose, table
from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules import FAMILIES, Family

_INTRODUCTION = """
`feedctl lint` looks for all of this at once; it fails when it finds an error or a warning that nothing accepts. A
finding is accepted by

- a comment at the end of its line, or alone on the line above: `# feedctl: ignore[RULE, RULE] reason`;
- the baseline, a file with the findings that an old repo starts with: `--baseline FILE`, and `--write-baseline` once;
- `repo.yaml`, for the whole repo: `accept: [RULE]`, or `lint: {rules: {RULE: {severity: off}}}`, where `severity` can
  also be `error`, `warning` or `info`, and a rule's options stand beside it.

What no action can load is never accepted, since the actions refuse it too; these rules say so.
"""
_FATAL = "No action can load what it finds; it cannot be accepted."
_NEEDS_BASE = "It compares with a commit: `feedctl lint --against REF`."
_FOR_DEVELOPERS = ("DESIGN ", "USERS ", "feedctl,")


def rules_page() -> str:
    """The page."""
    return page(
        "Lint rules",
        _INTRODUCTION,
        _severities(),
        *(block for family in FAMILIES for block in _family(family)),
    )


def _severities() -> str:
    words = meanings(Severity)
    return table(("severity", "meaning"), ([code(each), words[each.name]] for each in Severity))


def _family(family: Family) -> Iterator[str]:
    rules = family.rules
    yield f"## {family.name.capitalize()}"
    yield prose(family.description)
    rows = ([f"[{each.id}](#{each.id})", str(each.severity), prose(each.name)] for each in rules)
    yield table(("rule", "severity", "what it asks for"), rows)
    for rule in rules:
        yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}"
    notes = [_FATAL] if rule.fatal else []
    if rule.needs_base:
        notes.append(_NEEDS_BASE)
    yield " ".join([f"{prose(rule.name)} ({rule.severity}).", prose(rule.rationale), *notes])
    yield f"Not so:\n\n```yaml\n{rule.bad}```"
    yield f"But so:\n\n```yaml\n{rule.good}```"
    if rule.options:
        rows = (
            [code(name), code(json.dumps(each.default)), prose(each.description)] for name, each in rule.options.items()
        )
        yield table(("option", "default", "what it is"), rows)
    sources = [each for each in rule.source.split("; ") if not each.startswith(_FOR_DEVELOPERS)]
    if sources:
        yield f"Source: {prose('; '.join(sources))}."
