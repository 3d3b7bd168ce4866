"""Validation of data by suites of expectations: the validator, its process, decisions of people, result pages."""
