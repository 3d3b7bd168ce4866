"""What is reachable with which identity, and what is missing: `feedctl doctor`. It looks, and changes nothing."""
