"""Loops in which runs meet, are killed or lose their ledger, against oracles that share no code with the product."""
