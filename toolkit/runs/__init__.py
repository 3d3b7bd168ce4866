"""The run envelope: what starts, keeps alive, records and ends every run (DESIGN sections 1 and 6).

Names are imported from the modules, so that the error boundary of every command gets `Stopped` without the rest.
"""
