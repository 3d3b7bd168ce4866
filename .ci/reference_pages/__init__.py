"""The pages of docs/reference, made from the code; `.ci/reference.py` lists them."""
