"""All lint rules, one module each; a family lists its own."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules import awareness, base, linting, loading, processes, references, replication, times

FAMILIES = (loading, references, times, replication, processes, awareness, base, linting)
"""In the order in which the reference has them."""

RULES: dict[str, Rule] = {rule.id: rule for family in FAMILIES for rule in family.RULES}
"""Every rule by its identifier."""
