"""Adapters that need pyspark; `toolkit.transfer.executors` imports them only when executors are wanted."""
