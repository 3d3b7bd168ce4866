"""A frozen class behaves as the standard library's, whatever is called first."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property
from typing import Generic, TypeVar

import pytest

from toolkit.lazy_dataclass import dataclass

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    """Fields of each kind."""

    name: str
    sizes: list[int] = field(default_factory=list, compare=False)
    note: str = field(default="", repr=False)
    length: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived(Base):
    """One field more, and the base's."""

    size: int = 1


@dataclass(frozen=True)
class Open(Generic[T]):
    """Positional fields, and a dictionary of attributes."""

    first: T
    second: int = 2
    third: tuple[int, ...] = field(default_factory=tuple)

    @cached_property
    def total(self) -> int:
        """Return a figure."""
        return self.second + 1


@dataclass(frozen=True, slots=True)
class Same:  # noqa: PLW1641 - the decorator makes one
    """Its own equality, and no hash of its own."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.name.lower() == other.name.lower()


@dataclass(frozen=True, eq=False)
class Identity:
    """Equal to itself alone."""

    name: str


@dataclass(kw_only=True)
class Changing:
    """Not frozen."""

    name: str


@dataclass(frozen=True, order=True)
class Ordered:
    """With an order."""

    name: str


def test_the_constructor_takes_defaults_makes_new_ones_and_ends_with_the_check_of_the_class() -> None:
    one, other = Base(name="abc"), Base(name="abc", note="x")
    assert (one.sizes, one.note, one.length) == ([], "", 3)
    assert one.sizes is not other.sizes
    assert Base(name="", sizes=[1]).sizes == [1]
    assert Open("a") == Open("a", 2, ())
    assert Open[str]("a", second=3).second == 3


@pytest.mark.parametrize(
    ("model", "positional", "named", "reason"),
    [
        (Base, (), {}, "missing 1 required keyword-only argument: 'name'"),
        (Base, ("a",), {}, "takes 1 positional argument but 2 were given"),
        (Base, (), {"name": "a", "length": 1}, "unexpected keyword argument 'length'"),
        (Derived, (), {"other": 1}, r"Derived.__init__\(\) got an unexpected"),
    ],
)
def test_wrong_arguments_are_refused_as_by_any_constructor(
    model: Callable[..., object], positional: tuple[object, ...], named: dict[str, object], reason: str
) -> None:
    with pytest.raises(TypeError, match=reason):
        model(*positional, **named)


def test_a_field_cannot_be_changed_or_removed_and_nothing_can_be_added() -> None:
    for each in (Base(name="a"), Derived(name="a"), Open("a")):
        for name in (fields(each)[0].name, "other"):
            with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(each, name, "b")
            with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
                delattr(each, name)


def test_two_are_equal_and_hashed_alike_when_their_compared_fields_are_equal_and_their_classes_the_same() -> None:
    assert Base(name="a", sizes=[1]) == Base(name="a")
    assert len({Derived(name="a", size=2), Derived(name="a", size=2), Derived(name="a")}) == 2
    assert hash(Open("a")) == hash(Open("a"))
    assert Base(name="a") != Base(name="b")
    assert Base(name="a") != Derived(name="a")


def test_what_a_class_defines_itself_stays() -> None:
    assert Same("a") == Same("A")
    assert hash(Same("a")) != hash(Same("b"))
    assert Identity("a") != Identity("a")
    assert len({Identity("a"), Identity("a")}) == 2
    assert Open("a").total == 3


def test_the_text_of_one_names_its_class_and_fields() -> None:
    assert repr(Derived(name="a", note="hidden")) == "Derived(name='a', sizes=[], length=1, size=1)"


def test_copies_have_the_same_fields() -> None:
    one = Derived(name="abc", sizes=[1], size=3)
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own
    assert (copy.deepcopy(one), copy.copy(one)) == (one, one)
    assert replace(one, name="b").length == 1
    assert pickle.loads(pickle.dumps(Open("a"))) == Open("a")  # noqa: S301 - our own


def test_other_classes_are_those_of_the_standard_library() -> None:
    one = Changing(name="a")
    one.name = "b"
    assert one == Changing(name="b")
    assert Ordered("a") < Ordered("b")
    assert dataclasses.is_dataclass(Base)


def test_a_class_of_the_standard_library_derives_from_a_lazy_one_and_the_other_way_round() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Further(Derived):
        """Made by the standard library."""

        depth: int = 1

    @dataclass(frozen=True, kw_only=True)
    class Furthest(Further):
        """Lazy again."""

        last: int = 2

    assert Furthest(name="a", size=2, depth=3) == Furthest(name="a", size=2, depth=3, last=2)
    with pytest.raises(FrozenInstanceError):
        setattr(Furthest(name="a"), "last", 3)  # noqa: B010 - what a type checker refuses


def test_methods_are_compiled_when_they_are_called_and_once() -> None:
    @dataclass(frozen=True)
    class Late:
        """Made in this test."""

        name: str

    found = [vars(Late)["__init__"]]
    for name in ("a", "b"):
        assert Late(name).name == name
        found.append(vars(Late)["__init__"])
    assert found[0] is not found[1]
    assert found[1] is found[2]
