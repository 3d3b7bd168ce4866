"""Disks of this machine, and what it has mounted."""
