"""Programs as child processes, below a supervisor: the steps of processes by their engines, and validations."""
