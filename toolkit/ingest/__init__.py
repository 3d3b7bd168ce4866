"""Streaming ingest: records committed to a table in small transactions, exactly once (issue 29; Hive Streaming API).

`endpoint.Endpoint` and `connection.connect` are the API, `port.IngestTable` is what a table format has to do.
"""
