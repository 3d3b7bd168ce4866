"""What an attacker tries with a pull request, a folder of data or a token, and what stops it."""
