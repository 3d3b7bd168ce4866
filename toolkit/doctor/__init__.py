"""Checks of `feedctl doctor`: reachable services, the identity used, missing parts. They change nothing."""
