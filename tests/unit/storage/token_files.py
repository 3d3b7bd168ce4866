"""Token storage files that Hadoop 3.4.2 itself wrote (`Credentials.writeTokenStorageToStream`), in both formats.

Each holds an HDFS token of alice (renewer yarn, issued 2026-01-01, at most until 2026-01-08) for ``ha-hdfs:ns1``, a
token of another kind with 200 zero bytes as its password, and a secret key.
"""

from __future__ import annotations

import base64
import re

_ZEROS = "A" * 267

_WRITABLE = f"""
SERUUwACA2ttcwh3aGF0ZXZlco/I{_ZEROS}Ga21zLWR0DTEwLjAuMC4xOjk2MDALaGEtaGRmczpuczEdAAVhbGljZQR5YXJuAIoBm3baqACKAZua5ywABwMU
AQIDBAUGBwgJCgsMDQ4PEBESExQVSERGU19ERUxFR0FUSU9OX1RPS0VOC2hhLWhkZnM6bnMxAQhteXNlY3JldARodXNo
"""

_PROTOBUF = f"""
SERUUwHzAgr0AQoDa21zEuwBCgh3aGF0ZXZlchLIAQ{_ZEROS[1:]}GgZrbXMtZHQiDTEwLjAuMC4xOjk2MDAKaAoLaGEtaGRmczpuczESWQodAAVhbGljZQR5YXJu
AIoBm3baqACKAZua5ywABwMSFAECAwQFBgcICQoLDA0ODxAREhMUGhVIREZTX0RFTEVHQVRJT05fVE9LRU4iC2hhLWhkZnM6bnMxEhAKCG15c2VjcmV0
GgRodXNo
"""

HDFS_TOKEN_AS_URL_TEXT = (
    "HQAFYWxpY2UEeWFybgCKAZt22qgAigGbmucsAAcDFAECAwQFBgcICQoLDA0ODxAREhMUFUhERlNfREVMRUdBVElPTl9UT0tFTgtoYS1oZGZzOm5zMQ"
)
"""What Hadoop's own `Token.encodeToUrlString` makes of the HDFS token."""


def _bytes(text: str) -> bytes:
    return base64.b64decode(re.sub(r"\s", "", text))


WRITABLE = _bytes(_WRITABLE)
PROTOBUF = _bytes(_PROTOBUF)
