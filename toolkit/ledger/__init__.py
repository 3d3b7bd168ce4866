"""The ledger: runs, leases, items, run metadata and events in one SQL database (DESIGN section 6).

Names are imported from the modules, so that a command loads only what it needs.
"""
