"""Metastores and tables for tests."""
