"""The composition root: from the options of a command to loaded entities and adapters (STYLE H1).

Names are imported from the modules, so that a command loads only what it needs.
"""
