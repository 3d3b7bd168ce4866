"""Databases by JDBC: a port, and its adapter, which talks to drivers in a small JVM of its own."""
