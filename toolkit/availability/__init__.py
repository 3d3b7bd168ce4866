"""Which instances of a feed exist and are complete: flags, directories, partitions (DESIGN section 3). Empty as yet."""
