"""The run envelope: so far what ends a run, and the check of its nominal time (DESIGN section 1).

Names are imported from the modules, so that the error boundary of every command gets `Stopped` without the rest.
"""
