"""Google Cloud Storage and Azure, through obstore; untested against the real services."""
