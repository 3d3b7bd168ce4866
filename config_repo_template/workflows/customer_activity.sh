#!/bin/sh
# customers and clicks are the paths of the inputs, in the environment of the command.
set -eu
echo "customers from ${customers:?}, clicks from ${clicks:?}"
