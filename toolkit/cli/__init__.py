"""The command line `feedctl`: one module per command family, loaded when it is needed."""
