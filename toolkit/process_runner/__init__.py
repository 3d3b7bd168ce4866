"""Runs a process instance: resolve, wait, publish properties, run the steps, retry (DESIGN section 7).

Its engines are in `toolkit.process_runner.engines`, one of the three places that may import pyspark.
"""
