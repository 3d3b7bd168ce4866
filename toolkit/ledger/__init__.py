"""The ledger: runs, leases, items, run metadata and events in one SQL database (DESIGN section 6). Empty as yet."""
