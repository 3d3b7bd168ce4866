"""`feedctl lint`: rules, findings and reporters over a config repo; one rule, one module (STYLE H29). Empty as yet."""
