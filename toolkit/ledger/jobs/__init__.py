"""Jobs: one run of a process over its batches, step by step (DESIGN section 6, Run metadata after BDRE)."""
