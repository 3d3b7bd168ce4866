"""Batches: their files, the instances that they stand for, and how they reach the steps that read them (BDRE)."""
