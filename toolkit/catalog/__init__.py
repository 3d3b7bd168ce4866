"""Tables and metastores: a port to names, locations and properties of tables and partitions, and its adapter.

DESIGN section 5. `opening.open_metastore` opens one; `adapters` is one of the three places that may import pyspark.
"""
