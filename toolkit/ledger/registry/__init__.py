"""Which processes the ledger knows: steps, properties, servers, and who enqueues whom (DESIGN section 6, BDRE)."""
