#!/bin/sh
# shown has the paths of the input, in the environment of the command; it is empty when the optional input is missing.
set -eu
echo "impressions from ${shown:-nowhere: the report is published without them}"
