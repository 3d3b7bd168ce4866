"""What needs pyspark; loaded by `toolkit.transfer.executors` when machines are wanted, and never before."""
