"""HDFS through its HTTP interface: WebHDFS and HttpFS."""
