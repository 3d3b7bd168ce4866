"""The tables of the ledger (DESIGN section 6).

`docs/reference/ledger.md` draws them.
"""

from toolkit.ledger.columns import metadata
from toolkit.ledger.tables.copies import exchange_mark, manifest, run_counter
from toolkit.ledger.tables.events import (
    consumer_cursor,
    event,
    event_counter,
    poll,
    trigger_cause,
    trigger_dropped,
    trigger_pending,
)
from toolkit.ledger.tables.identity import ledger_identity
from toolkit.ledger.tables.ingest import ingest_batch, ingest_slot, ingest_transaction
from toolkit.ledger.tables.inputs import input_fingerprint, late_check
from toolkit.ledger.tables.lineage import (
    lineage_edge,
    lineage_node,
    lineage_query,
    lineage_relation,
    lineage_run_query,
)
from toolkit.ledger.tables.monitoring import alert, outbox, outbox_channel, silence, sla_instance, sla_window
from toolkit.ledger.tables.processes import (
    archive,
    batch,
    batch_instance,
    file,
    process,
    process_log,
    process_property,
    queue,
    server,
    step,
    step_input,
    upstream,
)
from toolkit.ledger.tables.quality import verdict, verdict_finding
from toolkit.ledger.tables.runs import (
    command,
    entity_state,
    file_hold,
    hold,
    item,
    lease,
    request,
    resource,
    run,
    safe_mode,
    step_run,
)

__all__ = [
    "alert",
    "archive",
    "batch",
    "batch_instance",
    "command",
    "consumer_cursor",
    "entity_state",
    "event",
    "event_counter",
    "exchange_mark",
    "file",
    "file_hold",
    "hold",
    "ingest_batch",
    "ingest_slot",
    "ingest_transaction",
    "input_fingerprint",
    "item",
    "late_check",
    "lease",
    "ledger_identity",
    "lineage_edge",
    "lineage_node",
    "lineage_query",
    "lineage_relation",
    "lineage_run_query",
    "manifest",
    "metadata",
    "outbox",
    "outbox_channel",
    "poll",
    "process",
    "process_log",
    "process_property",
    "queue",
    "request",
    "resource",
    "run",
    "run_counter",
    "safe_mode",
    "server",
    "silence",
    "sla_instance",
    "sla_window",
    "step",
    "step_input",
    "step_run",
    "trigger_cause",
    "trigger_dropped",
    "trigger_pending",
    "upstream",
    "verdict",
    "verdict_finding",
]
