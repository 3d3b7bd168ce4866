"""Rules about times: windows, limits and calendars that fit together."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules.times import (
    clock_change_slot,
    group_frequency,
    input_older_than_retention,
    input_outside_validity,
    input_start_after_end,
    instances_share_path,
    late_window_past_retention,
    replication_past_retention,
    retention_below_cut_off,
    retention_below_frequency,
    timeout_below_frequency,
)

RULES: tuple[Rule, ...] = (
    clock_change_slot.RULE,
    group_frequency.RULE,
    input_older_than_retention.RULE,
    input_outside_validity.RULE,
    input_start_after_end.RULE,
    instances_share_path.RULE,
    late_window_past_retention.RULE,
    replication_past_retention.RULE,
    retention_below_cut_off.RULE,
    retention_below_frequency.RULE,
    timeout_below_frequency.RULE,
)
"""The rules of this family."""
