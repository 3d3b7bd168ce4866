"""Pure decisions: what an instance of a process reads and makes, who reads a feed instance, what retention lets go."""
