from __future__ import annotations

from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.kerberos import Ticket, ticket_findings, ticket_of

_LISTED = """\
Ticket cache: FILE:/tmp/krb5cc_1000
Default principal: etl/edge.example.com@EXAMPLE.COM

Valid starting     Expires            Service principal
11/21/26 20:00:00  11/22/26 06:00:00  krbtgt/EXAMPLE.COM@EXAMPLE.COM
\trenew until 11/28/26 20:00:00
"""


def _finding(ticket: Ticket | None, *, is_needed: bool) -> CheckResult:
    (found,) = ticket_findings(lambda: ticket, is_needed=is_needed)
    return found


def test_principal_and_end_are_read_from_the_listing() -> None:
    ticket = ticket_of(_LISTED, is_valid=True)
    assert ticket == Ticket(principal="etl/edge.example.com@EXAMPLE.COM", ends="11/22/26 06:00:00", is_valid=True)


def test_an_empty_listing_is_no_ticket() -> None:
    assert ticket_of("", is_valid=False) == Ticket()


def test_a_valid_ticket_is_fine_whether_it_is_needed_or_not() -> None:
    ticket = ticket_of(_LISTED, is_valid=True)
    for is_needed in (True, False):
        assert _finding(ticket, is_needed=is_needed).status is CheckStatus.OK


def test_a_ticket_that_is_needed_and_expired_or_missing_is_a_failure() -> None:
    expired = _finding(ticket_of(_LISTED, is_valid=False), is_needed=True)
    missing = _finding(Ticket(), is_needed=True)
    assert (expired.status, missing.status) == (CheckStatus.FAILED, CheckStatus.FAILED)
    assert "kinit" in missing.todo


def test_nobody_minds_a_ticket_that_no_cluster_asks_for() -> None:
    for ticket in (Ticket(), ticket_of(_LISTED, is_valid=False), None):
        assert _finding(ticket, is_needed=False).status is CheckStatus.SKIPPED


def test_without_klist_nobody_knows() -> None:
    """A ticket may be there all the same: the store itself says whether it is."""
    assert _finding(None, is_needed=True).status is CheckStatus.SKIPPED
