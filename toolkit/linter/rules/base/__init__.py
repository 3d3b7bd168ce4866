"""Rules that compare with a git base: what a change would do."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules.base import (
    cluster_endpoint_change,
    data_left_behind,
    fixed_start,
    frequency_change,
    hold_removed,
    keep_last_lowered,
    ledger_change,
    partitions_change,
    removed_entity_in_use,
    renamed_entity,
    retention_action_change,
    retention_blast_radius,
    retention_removed,
    template_change,
    widened_template,
)

RULES: tuple[Rule, ...] = (
    fixed_start.RULE,
    renamed_entity.RULE,
    removed_entity_in_use.RULE,
    cluster_endpoint_change.RULE,
    ledger_change.RULE,
    retention_blast_radius.RULE,
    keep_last_lowered.RULE,
    hold_removed.RULE,
    retention_action_change.RULE,
    retention_removed.RULE,
    widened_template.RULE,
    template_change.RULE,
    partitions_change.RULE,
    frequency_change.RULE,
    data_left_behind.RULE,
)
