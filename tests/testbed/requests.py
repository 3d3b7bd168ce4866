"""What a client asks a supervisor: one line of JSON, answered by one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

FACTS = "facts"
"""What must be known of a server; it is started when it was not."""
START = "start"
"""Start a program of a server; it is not ready yet when the answer comes."""
STOP = "stop"
"""Send a program a signal; the answer comes when it has ended."""
END = "end"
"""End everything."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request.

    Args:
        action: one of the above.
        server: which server.
        program: which of its processes; only for `START` and `STOP`.
        signal: only for `STOP`.
    """

    action: str
    server: str = ""
    program: str = ""
    signal: int = 0

    @classmethod
    def read(cls, line: str) -> Self:
        """The request that was written as this line."""
        return cls(**json.loads(line))

    def line(self) -> str:
        """The line that stands for it."""
        return json.dumps(asdict(self)) + "\n"
