"""Throw-away database servers for tests and benchmarks."""
