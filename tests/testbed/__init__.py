"""Real servers for tests: HDFS, S3 and Spark, one set for each run of pytest, ended with it however it ends.

`fixtures` is what tests ask for; `client` is for scripts; `python -m tests.testbed` keeps one running by hand.
"""
