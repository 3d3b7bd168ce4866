"""Plain data as YAML and JSON have it; the type of everything between the files and the models."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
"""A YAML 1.2 scalar of the core schema."""

Value: TypeAlias = "Scalar | Sequence[Value] | Mapping[str, Value]"
"""Any value of a document."""

Document: TypeAlias = Mapping[str, Value]
"""A file's top level."""
