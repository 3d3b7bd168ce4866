"""feedctl's import package: batch jobs for data feeds on Hadoop and object storage."""

__version__ = "0.1.0"
