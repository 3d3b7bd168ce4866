"""How the tables of a ledger came to be, one module for each revision; only `feedctl ledger upgrade` loads them."""
