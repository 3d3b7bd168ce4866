"""`${name}` in the arguments of a step: the text of a property, as a part of that one argument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from toolkit.errors import InvalidInput
from toolkit.planning.script_references import REFERENCE


class UnknownProperty(InvalidInput):
    """A step refers to a property that its instance does not have."""

    def __init__(self, *, name: str, where: str, known: Mapping[str, str]) -> None:
        self.name = name
        near = get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`feedctl instance params` lists them"
        super().__init__(f"{where} refers to ${{{name}}}, which is no property of the instance; {hint}")


def filled(argument: str, properties: Mapping[str, str]) -> str:
    """An argument with its properties; what a property's text looks like has no meaning.

    Raises:
        UnknownProperty: there is none of that name.
    """

    def text_of(found: re.Match[str]) -> str:
        if found[1] not in properties:
            raise UnknownProperty(name=found[1], where=f"the argument {argument!r}", known=properties)
        return properties[found[1]]

    return REFERENCE.sub(text_of, argument)
