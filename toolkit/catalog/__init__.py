"""The catalog port and its adapters: list, add and drop the partitions of tables (DESIGN section 5). Empty as yet.

Its adapters will live in `toolkit.catalog.adapters`, one of the three places that may import pyspark.
"""
