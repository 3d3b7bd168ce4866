"""The revisions; what one has done to a ledger stays as it is, whatever the tables become."""
