"""Judging data by suites of expectations: the gate, the process that judges, verdicts, and a page for each."""
