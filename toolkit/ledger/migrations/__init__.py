"""Changes of the tables that were released, one module `revision_NUMBER` each; `feedctl ledger upgrade` loads them.

There is none yet: the first revision is the tables of the first release, which `toolkit.ledger.tables` describes.
"""
