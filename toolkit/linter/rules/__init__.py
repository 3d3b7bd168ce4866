"""All lint rules: texts from the catalogue, checks from the modules beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from types import ModuleType
from typing import Any

import yaml

from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext, Option, Rule
from toolkit.linter.rules import (
    configuration,
    deadlines,
    durations,
    expectations,
    inputs,
    local_times,
    max_delete,
    mirrors,
    outputs,
    paths,
    pipelines,
    prepared_outputs,
    properties,
    quality,
    recipients,
    replication,
    replication_partitions,
    retention,
    script_properties,
    secrets,
    triggers,
    unused,
    waits,
    windows,
    workflows,
)

_FAMILIES = (
    "loading",
    "references",
    "times",
    "replication",
    "processes",
    "triggers",
    "awareness",
    "quality",
    "monitoring",
    "base",
    "linting",
)
MODULES: tuple[ModuleType, ...] = (
    configuration,
    deadlines,
    durations,
    expectations,
    inputs,
    local_times,
    max_delete,
    mirrors,
    outputs,
    paths,
    pipelines,
    prepared_outputs,
    properties,
    quality,
    recipients,
    replication,
    replication_partitions,
    retention,
    script_properties,
    secrets,
    triggers,
    unused,
    waits,
    windows,
    workflows,
)
"""Each has its checks as ``CHECKS``."""

CHECKS: Mapping[str, Check] = {rule_id: check for module in MODULES for rule_id, check in module.CHECKS.items()}
"""Check of each rule by its identifier; a comparison, loading and the linter itself find the others."""


@cache
def base_checks() -> Mapping[str, Check]:
    """Return the checks of the rules that compare with a git base, by identifier.

    It is loaded by the first comparison: to work out what a change does takes more code than most of the other rules.
    """
    modules = (import_module(f"{__name__}.{name}") for name in ("base_effects", "base_entities", "dropped_columns"))
    return {rule_id: check for module in modules for rule_id, check in module.CHECKS.items()}


def _compared(rule_id: str) -> Check:
    def check(context: LintContext) -> Iterator[Hit]:
        return iter(()) if context.base is None else base_checks()[rule_id](context)

    return check


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """Rules about one thing, as the reference has them together.

    Attributes:
        name: also that of the file in ``catalogue/``.
        description: what they are about.
        rules: in the order of the file.
    """

    name: str
    description: str
    rules: tuple[Rule, ...]


def _family(name: str) -> Family:
    data = resources.files(__name__).joinpath("catalogue", f"{name}.yaml").read_bytes()
    # libyaml reads all texts in 10 ms, so that nothing is gained by reading them only when they are shown.
    content: dict[str, Any] = yaml.load(data, yaml.CSafeLoader)
    rules = (_rule(rule_id, entry) for rule_id, entry in content["rules"].items())
    return Family(name=name, description=content["description"], rules=tuple(rules))


def _rule(rule_id: str, entry: Mapping[str, Any]) -> Rule:
    own = {
        "id": rule_id,
        "severity": Severity(entry["severity"]),
        "check": _compared(rule_id) if entry.get("needs_base") else CHECKS.get(rule_id),
        "options": {name: Option(**each) for name, each in entry.get("options", {}).items()},
    }
    return Rule(**{**entry, **own})


FAMILIES: tuple[Family, ...] = tuple(map(_family, _FAMILIES))
"""In the order in which the reference has them."""

RULES: Mapping[str, Rule] = {rule.id: rule for family in FAMILIES for rule in family.rules}
"""Every rule by its identifier."""
