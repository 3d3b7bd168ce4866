"""Rules about inputs, outputs, workflows, retries and properties of processes."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules.processes import (
    availability_range,
    future_limit,
    last_only_parallel,
    late_delay_without_effect,
    late_input_without_cut_off,
    late_process_without_inputs,
    late_table_input,
    misspelt_property,
    only_optional_inputs,
    optional_table_input,
    output_function,
    output_outside_validity,
    output_written_twice,
    reserved_property,
    retry_bounds,
    sla_order,
)

RULES: tuple[Rule, ...] = (
    optional_table_input.RULE,
    only_optional_inputs.RULE,
    availability_range.RULE,
    future_limit.RULE,
    output_function.RULE,
    output_outside_validity.RULE,
    output_written_twice.RULE,
    late_table_input.RULE,
    late_input_without_cut_off.RULE,
    late_process_without_inputs.RULE,
    late_delay_without_effect.RULE,
    retry_bounds.RULE,
    last_only_parallel.RULE,
    sla_order.RULE,
    misspelt_property.RULE,
    reserved_property.RULE,
)
