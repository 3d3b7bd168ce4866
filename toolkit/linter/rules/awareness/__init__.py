"""Rules about who makes and who reads the data."""

from __future__ import annotations

from toolkit.linter.rule import Rule
from toolkit.linter.rules.awareness import (
    external_but_produced,
    feed_without_consumer,
    feed_without_producer,
    instances_never_made,
    pipeline_cut,
)

RULES: tuple[Rule, ...] = (
    feed_without_producer.RULE,
    feed_without_consumer.RULE,
    external_but_produced.RULE,
    instances_never_made.RULE,
    pipeline_cut.RULE,
)
