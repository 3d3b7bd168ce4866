"""`dataclass` as in the standard library; the methods of a frozen class are compiled when they are first called.

The standard library compiles six methods with the class, 1 ms for each class. A command loads 200 to 500 classes, calls
the constructor of some, and prints or compares few: this saves a quarter of the time of a short command.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

_Any = Any
"""A class or an instance of it: type checkers see the decorator of the standard library, and nothing of this."""
_Method = Callable[..., object]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: _Any = None, /, *, frozen: bool = False, order: bool = False, **options: bool) -> _Any:
        """Return what `dataclasses.dataclass` returns."""
        if order or not frozen:
            return dataclasses.dataclass(cls, frozen=frozen, order=order, **options)
        return partial(_frozen, **options) if cls is None else _frozen(cls, **options)


__all__ = ["dataclass"]


def _frozen(cls: _Any, *, eq: bool = True, slots: bool = False, kw_only: bool = False) -> _Any:
    own = {name for name, value in vars(cls).items() if value is not None}
    is_derived = any(map(dataclasses.is_dataclass, cls.__mro__[1:]))  # only then the standard library insists
    made = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=is_derived, slots=slots, kw_only=kw_only)(cls)
    made.__dataclass_params__.frozen = True  # a class of the standard library's may derive from this one
    lazy = {name: _on_first_call(made, name) for name in (_COMPILED if eq else ("__init__", "__repr__"))}
    for name, method in {**lazy, **_FROZEN, **(_PICKLED if slots else {})}.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _on_first_call(cls: _Any, name: str) -> _Method:
    """Return a method that puts the compiled one into its place and calls it."""

    def method(*args: object, **values: object) -> object:
        found = _COMPILED[name](cls)
        found.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, found)
        return found(*args, **values)

    return method


def _constructor(cls: _Any) -> _Method:
    """Compile `__init__`; the standard library would compile two more methods for it to be that of a frozen class."""
    fields = dataclasses.fields(cls)
    scope: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    parameters = [each for each in fields if each.init]
    head = ["self", *(_parameter(each) for each in parameters if not each.kw_only)]
    named = [_parameter(each) for each in parameters if each.kw_only]
    body = [f"_set(self, {each.name!r}, {_value(each)})" for each in fields if each.init or _has_default(each)]
    for each in fields:
        scope |= {f"_default_{each.name}": each.default, f"_make_{each.name}": each.default_factory}
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "\n    ".join(body or ["pass"])
    exec(f"def __init__({', '.join([*head, *(['*', *named] if named else [])])}):\n    {lines}", scope)  # noqa: S102
    constructor: _Method = scope["__init__"]
    return constructor


def _has_default(field: Field[_Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _parameter(field: Field[_Any]) -> str:
    if field.default is not MISSING:
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is MISSING else f"{field.name}=_MISSING"


def _value(field: Field[_Any]) -> str:
    name = field.name
    if field.default_factory is not MISSING:
        return f"_make_{name}() if {name} is _MISSING else {name}" if field.init else f"_make_{name}()"
    return name if field.init else f"_default_{name}"


_NOTHING: dict[str, _Any] = {"init": False, "repr": False, "eq": False}


def _of_standard_library(cls: _Any, name: str, **options: bool) -> _Method:
    fields = [(each.name, each.type, each) for each in dataclasses.fields(cls)]
    made = dataclasses.make_dataclass(cls.__name__, fields, **_NOTHING | options)
    method: _Method = vars(made)[name]
    return method


_COMPILED: Mapping[str, Callable[[_Any], _Method]] = {
    "__init__": _constructor,
    "__repr__": partial(_of_standard_library, name="__repr__", repr=True),
    "__eq__": partial(_of_standard_library, name="__eq__", eq=True),
    "__hash__": partial(_of_standard_library, name="__hash__", eq=True, unsafe_hash=True),
}


def _refuse_change(self: object, name: str, value: object) -> NoReturn:  # noqa: ARG001 - of the protocol
    message = f"cannot assign to field {name!r}"
    raise FrozenInstanceError(message)


def _refuse_removal(self: object, name: str) -> NoReturn:  # noqa: ARG001 - of the protocol
    message = f"cannot delete field {name!r}"
    raise FrozenInstanceError(message)


def _values(self: _Any) -> list[object]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_values(self: _Any, values: list[object]) -> None:
    for each, value in zip(dataclasses.fields(self), values, strict=True):
        object.__setattr__(self, each.name, value)


_FROZEN: Mapping[str, _Method] = {"__setattr__": _refuse_change, "__delattr__": _refuse_removal}
_PICKLED: Mapping[str, _Method] = {"__getstate__": _values, "__setstate__": _set_values}
