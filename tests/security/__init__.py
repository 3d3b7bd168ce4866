"""Attacks that were tried on feedctl, each as a test: what it is defended from, and against whom.

A module is one thing that is defended. Its docstring says what that is and who attacks: the author of a pull request
on the config repo, who may write into a data folder or beside it, who answers in a store's place, who reads a log.
`docs/security.md` has the trust model. Each test fails without its defence. `test_what_held` names what held already.
"""
