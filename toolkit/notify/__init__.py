"""Messages and mail about runs: the ports and their adapters (DESIGN section 4, `notification`). Empty as yet."""
