"""Copying files: to a temporary place, verified, then published (DESIGN section 7, Replication). Empty as yet.

Its adapters will live in `toolkit.transfer.adapters`, one of the three places that may import pyspark.
"""
