"""Rules about what tells the linter what to look for: comments, settings, baseline; the linter itself applies them."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules.linting import (
    bad_rule_setting,
    bad_suppression,
    stale_baseline_entry,
    suppression_without_reason,
    unknown_rule,
    unused_suppression,
)

RULES: tuple[Rule, ...] = (
    bad_rule_setting.RULE,
    bad_suppression.RULE,
    stale_baseline_entry.RULE,
    suppression_without_reason.RULE,
    unknown_rule.RULE,
    unused_suppression.RULE,
)
