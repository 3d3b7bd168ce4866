"""`feedctl lint`: rules, findings and what is compared; one rule, one module (STYLE H29)."""
