"""Canned runs of retention and what they told: results, audit lines, ledger rows, exit codes."""
