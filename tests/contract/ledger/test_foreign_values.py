"""Values that feedctl does not know, and texts that no database keeps."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun
from toolkit.errors import InvalidInput
from toolkit.ledger.database import Ledger
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.runs.queries import active, get
from toolkit.ledger.state import start_check

pytestmark = pytest.mark.both_databases


def test_a_status_that_is_not_known_is_named_with_the_known_ones(ledger: Ledger) -> None:
    run = begun(ledger)
    ledger.write(lambda tx: tx.execute(sa.text("UPDATE run SET status = 'parked'")))
    with pytest.raises(UnusableLedger) as caught:
        ledger.read(lambda tx: get(tx, run.run_id))
    assert "has 'parked' as a RunStatus, expected one of waiting, ready, running" in str(caught.value)
    assert "newer feedctl" in str(caught.value)
    assert ledger.read(active) == []


@pytest.mark.parametrize("text", ["\udcff", "caf\udce9"])
def test_a_text_that_is_no_utf_8_is_refused_in_a_sentence_and_changes_nothing(ledger: Ledger, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not UTF-8"):
        ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ada", reason=text))
    assert not ledger.read(start_check.current_safe_mode).is_on
