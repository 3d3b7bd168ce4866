"""Rules about sources, targets, partition expressions and delays."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication import (
    constant_source_partition,
    missing_source_partition,
    object_store_without_flag,
    partition_expression_length,
    replication_conflict,
    replication_onto_itself,
    replication_setting_without_effect,
    replication_without_instances,
    target_without_source,
    unknown_partition_variable,
)

RULES: tuple[Rule, ...] = (
    missing_source_partition.RULE,
    constant_source_partition.RULE,
    partition_expression_length.RULE,
    unknown_partition_variable.RULE,
    replication_without_instances.RULE,
    replication_conflict.RULE,
    replication_onto_itself.RULE,
    replication_setting_without_effect.RULE,
    target_without_source.RULE,
    object_store_without_flag.RULE,
)
