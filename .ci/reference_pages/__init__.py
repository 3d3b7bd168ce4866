"""The pages of docs/reference, made from the code: `entities`, `expressions`, `commands`, `ledger` and `rules`."""
