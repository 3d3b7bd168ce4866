"""Paths of the S3 server that are not S3's."""

from __future__ import annotations

READY = "/moto-api/config"
"""Answers with a JSON object."""
FILL = "/testbed/fill"
"""Takes a JSON object with `bucket` and `keys`, and puts an empty object at each: far quicker than requests."""
