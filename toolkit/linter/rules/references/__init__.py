"""Rules about references: what entities, paths, files and end points mean, and that it is there and theirs alone."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules.references import (
    audit_file_outside,
    circular_wait,
    endpoint_type,
    input_partition,
    missing_workflow,
    nested_path,
    secret_in_repo,
    shared_path,
    table_partitions,
    two_writers,
    unused_default,
    unused_hold,
)

RULES: tuple[Rule, ...] = (
    audit_file_outside.RULE,
    circular_wait.RULE,
    endpoint_type.RULE,
    input_partition.RULE,
    missing_workflow.RULE,
    nested_path.RULE,
    secret_in_repo.RULE,
    shared_path.RULE,
    table_partitions.RULE,
    two_writers.RULE,
    unused_default.RULE,
    unused_hold.RULE,
)
"""The rules of this family."""
