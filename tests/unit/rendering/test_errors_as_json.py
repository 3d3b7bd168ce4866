from __future__ import annotations

import json
from datetime import UTC, datetime

from toolkit.errors import Refused
from toolkit.ledger.jobs.errors import Missing, NothingEnqueued
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.state.start_check import SafeModeIsOn
from toolkit.rendering.run_metadata import error_document


class TooManyHTTPCalls(Refused):
    """An error without a code, and with every kind of fact."""

    def __init__(self) -> None:
        self.limits = {"calls": 3, "at": datetime(2026, 3, 1, 6, 40, 5, tzinfo=UTC)}
        self.names = frozenset({"a"})
        self.other = complex(1, 0)
        super().__init__("too many")


def test_an_error_has_its_code_its_message_and_its_facts() -> None:
    error = NothingEnqueued(site=Site(name="p", cluster="primary"), missing=[Missing(step="main", upstream="clicks")])
    assert error_document(error) == {
        "code": "nothing_enqueued",
        "message": str(error),
        "retriable": True,
        "process": "p",
        "cluster": "primary",
        "missing": [{"step": "main", "upstream": "clicks"}],
    }


def test_a_moment_is_text() -> None:
    at = datetime(2026, 3, 1, 6, 40, 5, tzinfo=UTC)
    assert (
        error_document(SafeModeIsOn(reason=None, changed_by="ada", changed_at=at))["changed_at"]
        == "2026-03-01T06:40:05Z"
    )


def test_an_error_without_a_code_is_called_after_its_class_and_every_fact_can_be_written() -> None:
    document = error_document(TooManyHTTPCalls())
    assert document["code"] == "too_many_httpcalls"
    assert json.loads(json.dumps(document))["limits"] == {"calls": 3, "at": "2026-03-01T06:40:05Z"}
    assert (document["names"], document["other"]) == (["a"], "(1+0j)")
