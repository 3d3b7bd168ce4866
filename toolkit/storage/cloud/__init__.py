"""Google Cloud Storage and Azure Blob Storage, through their HTTP interfaces (ADR 0063)."""
