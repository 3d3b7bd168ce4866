"""Name in a template (a path segment or a partition value): matching, rendering and explaining a mismatch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import NamedTuple

from toolkit.el.errors import ElError
from toolkit.el.fields import COARSE_TO_FINE, FORMS, RANGE_IN_WORDS, Field, render_field
from toolkit.el.matching import Reader, key_of, reader, regex_of, second_open
from toolkit.el.tokens import DateField, Literal, Token, Variable

OWN_PREFIX = ".feedctl"
"""Names that begin so are feedctl's own; they conform to no glob and no variable."""


class Found(NamedTuple):
    """Texts of a name: its date fields as written, and its user variables."""

    fields: Mapping[Field, str]
    variables: Mapping[str, str]


_NOTHING = Found({}, {})


@dataclass(frozen=True)
class Segment:
    """A name of a template.

    Args:
        tokens: the parts of the name, in order.
        whole: the text of the whole template, for errors.

    Raises:
        ElError: a malformed glob, or two parts of open length. Variables may still get values, so a name that has some
            is refused when it is bound or first matched.
    """

    tokens: tuple[Token, ...]
    whole: str

    def __post_init__(self) -> None:
        if self.literal is None:
            self._refuse_malformed()
            if not self.variables:
                self.refuse_open()

    @cached_property
    def literal(self) -> str | None:
        """The name itself when it has no variable part, else None."""
        texts = [token.text for token in self.tokens if isinstance(token, Literal)]
        return "".join(texts) if len(texts) == len(self.tokens) else None

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The date fields in the order in which they stand, repeated ones too."""
        return tuple(token.field for token in self.tokens if isinstance(token, DateField))

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names of the user variables in the order in which they stand, repeated ones too."""
        return tuple(token.name for token in self.tokens if isinstance(token, Variable))

    def chronological(self, known: Iterable[Field]) -> bool:
        """Return whether names sort as their dates do, once the fields of the names above are known."""
        due = [field for field in COARSE_TO_FINE if field not in set(known)]
        for token in self.tokens:
            if isinstance(token, DateField) and due and token.field is due[0]:
                due.pop(0)
            elif not isinstance(token, Literal):
                return False
        return bool(self.fields)

    def match(self, name: str) -> Found | None:
        """Return the texts of the name; None: it does not conform."""
        if self.literal is not None:
            return _NOTHING if name == self.literal else None
        texts = None if name.startswith(OWN_PREFIX) else self._reader(name)
        if texts is None:
            return None
        return Found(
            {field: texts[at] for field, at in self._places[0]}, {name: texts[at] for name, at in self._places[1]}
        )

    def render(self, local: datetime, variables: Mapping[str, str]) -> str:
        """The name at a local time.

        Raises:
            ElError: a variable has no value, or one that is not a single name.
        """
        if self._form is not None:
            return self._form.format(local)
        return "".join(self._rendered(token, local, variables) for token in self.tokens)

    @cached_property
    def _form(self) -> str | None:
        """The name as a format of the local time, which renders it at once; None: it has a variable."""
        if self.variables:
            return None
        named = (token for token in self.tokens if not isinstance(token, Variable))
        return "".join(FORMS[each.field] if isinstance(each, DateField) else _literally(each.text) for each in named)

    def bind(self, variables: Mapping[str, str]) -> Segment:
        """The segment with the known variables replaced by their values, taken literally."""
        if not any(name in variables for name in self.variables):
            return self
        tokens = (self._bound(token, variables) for token in self.tokens)
        return Segment(tuple(tokens), self.whole)

    @property
    def text(self) -> str:
        """The segment as a template text, with bound values in their places."""
        return "".join(_source(token) for token in self.tokens)

    @property
    def expectation(self) -> str:
        """Return in words how a name must look."""
        ranges = [f"{field} {RANGE_IN_WORDS[field]}" for field in dict.fromkeys(self.fields)]
        return f"'{self.text}'" + (f" ({', '.join(ranges)})" if ranges else "")

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Return the regular expression of a segment of literals and date fields, which are its groups, in order."""
        return _guarded(self.tokens)

    @cached_property
    def _reader(self) -> Reader:
        self.refuse_open()
        return reader(self.tokens)

    def refuse_open(self) -> None:
        """Return when at most one part of the name has an open length.

        Raises:
            ElError: there are two: a variable without a value, `*`, or a choice of which one text begins with another.
        """
        token = second_open(self.tokens)
        if token is None:
            return
        found = _source(token)
        position = token.position if isinstance(token, Variable) else max(self.whole.rfind(found), 0)
        expected = (
            "at most one part of open length in a name (*, ${variable} without a value, {a,ab}); use a name for each"
        )
        raise ElError(text=self.whole, position=position, found=found, expected=expected)

    def _refuse_malformed(self) -> None:
        try:
            regex_of(self.tokens)
        except re.error as error:
            expected = "a glob such as *, ?, [a-z], [!a] or {one,other}"
            raise ElError(text=self.whole, position=0, found=f"'{self.text}'", expected=expected) from error

    @cached_property
    def _places(self) -> tuple[tuple[tuple[Field, int], ...], tuple[tuple[str, int], ...]]:
        """Return which of the texts that are read are of which date fields, and of which variables."""
        named = [token for token in self.tokens if key_of(token) is not None]
        fields = ((token.field, at) for at, token in enumerate(named) if isinstance(token, DateField))
        variables = ((token.name, at) for at, token in enumerate(named) if isinstance(token, Variable))
        return tuple(fields), tuple(variables)

    def _rendered(self, token: Token, local: datetime, variables: Mapping[str, str]) -> str:
        if isinstance(token, DateField):
            return render_field(token.field, local)
        if isinstance(token, Variable):
            return self._value(token, variables)
        return token.text

    def _bound(self, token: Token, variables: Mapping[str, str]) -> Token:
        if isinstance(token, Variable) and token.name in variables:
            return Literal(self._value(token, variables))
        return token

    def _value(self, token: Variable, variables: Mapping[str, str]) -> str:
        value = variables.get(token.name)
        if value is None:
            known = ", ".join(sorted(variables)) or "none"
            expected = f"a value for it (known variables: {known})"
            raise ElError(text=self.whole, position=token.position, found=f"${{{token.name}}}", expected=expected)
        if not value or "/" in value or value in {".", ".."} or value.startswith(OWN_PREFIX):
            found = f"${{{token.name}}} = {value!r}"
            raise ElError(text=self.whole, position=token.position, found=found, expected="one name without a slash")
        return value


@lru_cache(maxsize=4096)
def _guarded(tokens: tuple[Token, ...]) -> re.Pattern[str]:
    return re.compile(f"(?!{re.escape(OWN_PREFIX)}){regex_of(tokens).pattern}", re.DOTALL)


def _literally(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _source(token: Token) -> str:
    if isinstance(token, DateField):
        return f"${{{token.field}}}"
    return f"${{{token.name}}}" if isinstance(token, Variable) else token.text
