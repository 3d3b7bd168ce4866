"""The tables of the ledger (DESIGN section 6).

`docs/reference/ledger.md` draws them; `toolkit.ledger.migrations` makes them.
"""

from toolkit.ledger.tables.batches import archive, batch, batch_instance, file, queue, server
from toolkit.ledger.tables.events import consumer_cursor, event, event_counter
from toolkit.ledger.tables.processes import process, process_log, process_property, step, step_input, upstream
from toolkit.ledger.tables.runs import item, lease, request, resource, run, step_run
from toolkit.ledger.tables.schema import metadata
from toolkit.ledger.tables.state import command, entity_state, hold, safe_mode

__all__ = [
    "archive",
    "batch",
    "batch_instance",
    "command",
    "consumer_cursor",
    "entity_state",
    "event",
    "event_counter",
    "file",
    "hold",
    "item",
    "lease",
    "metadata",
    "process",
    "process_log",
    "process_property",
    "queue",
    "request",
    "resource",
    "run",
    "safe_mode",
    "server",
    "step",
    "step_input",
    "step_run",
    "upstream",
]
