"""`feedctl lint`: rules, findings and what is compared; the rules' texts are data (STYLE H29)."""
