"""One suite for the port to metastores, over the one in memory and real ones."""
