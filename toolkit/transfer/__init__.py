"""Work that other machines do (here: Spark's executors), and copying files, which is to come (DESIGN section 7).

Its adapters live in `toolkit.transfer.adapters`, one of the three places that may import pyspark.
"""
