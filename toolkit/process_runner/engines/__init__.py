"""Engines that run one step of a process: a port, and one module for each engine that an entity may name."""
