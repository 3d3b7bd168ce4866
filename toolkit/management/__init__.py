"""Instance and entity management (Falcon overview): decisions, and use cases over the ledger and the config repo.

Names are imported from the modules, so that a command loads only what it needs.
"""
