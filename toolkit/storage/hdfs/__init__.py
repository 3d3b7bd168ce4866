"""HDFS through a client without a JVM."""
