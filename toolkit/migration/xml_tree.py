"""An XML file as a tree whose parts know their line, and whether they were read.

An element that is not read is reported as unknown. Document types, entities and references outside are refused
before anything is expanded (defusedxml).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from xml.sax import SAXException
from xml.sax.handler import (
    ContentHandler,
    ErrorHandler,
    LexicalHandler,
    feature_namespaces,
    property_lexical_handler,
)
from xml.sax.xmlreader import InputSource, Locator

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import create_parser
from typing_extensions import override

from toolkit.entities import ConfigProblem
from toolkit.entities.nearest import did_you_mean

_MOST_DEPTH = 50
"""Falcon's deepest element has ten above it."""

_MOST_ELEMENTS = 10_000

_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
"""The namespace of `xsi:schemaLocation`, which is about the file and not about the entity."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A text of an XML file: an attribute, or what stands in an element.

    Attributes:
        place: where, for example ``feed/clusters/cluster[2]/retention@limit``.
        line: from 1 on; of the element.
        text: without blanks around it.
    """

    place: str
    line: int
    text: str


@dataclass(slots=True, eq=False)
class Element:
    """An element; what is asked of it counts as read.

    Attributes:
        place: the tags that lead to it, for example ``feed/clusters/cluster[2]``.
    """

    tag: str
    namespace: str
    place: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    remarks: list[Fact] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _read: set[str] = field(default_factory=set)
    _read_children: set[int] = field(default_factory=set)
    _is_text_read: bool = False

    def attribute(self, *names: str) -> Fact | None:
        """The first of these attributes that is there; a second one of them stays unread."""
        found = self.exact_attribute(*names)
        return None if found is None else replace(found, text=found.text.strip())

    def exact_attribute(self, *names: str) -> Fact | None:
        """The same, with the blanks around it."""
        found = next((name for name in names if name in self.attributes), None)
        self._read.update(f"@{name}" for name in (names[:1] if found is None else (found,)))
        return None if found is None else Fact(f"{self.place}@{found}", self.line, self.attributes[found])

    def text(self) -> Fact:
        """Return the text in the element; may be empty."""
        self._is_text_read = True
        return Fact(self.place, self.line, "".join(self._texts).strip())

    def child(self, *tags: str) -> Element | None:
        """The first child with one of these tags; a second one stays unread."""
        self._read.update(tags)
        found = next((each for each in self.children if each.tag in tags), None)
        if found is not None:
            self._read_children.add(id(found))
        return found

    def each(self, tag: str) -> list[Element]:
        """Return all children with a tag."""
        self._read.add(tag)
        found = [child for child in self.children if child.tag == tag]
        self._read_children.update(map(id, found))
        return found

    def within(self, wrapper: str, tag: str) -> list[Element]:
        """The elements of a list, which Falcon wraps, and which the specification also shows without the wrapper."""
        wrapped = self.child(wrapper)
        return [*(wrapped.each(tag) if wrapped is not None else ()), *self.each(tag)]

    def hide(self, text: str) -> None:
        """Give what stands in it another text: a secret goes into no report."""
        self._texts[:] = [text]

    def unread(self, file: str) -> Iterator[ConfigProblem]:
        """Yield a problem for each part that was not read: it is unknown to Falcon, or there twice."""
        for name in self.attributes:
            if f"@{name}" not in self._read:
                yield self._unknown(file, self.line, f"@{name}", f"the attribute {name!r}")
        if not self._is_text_read and (text := "".join(self._texts).strip()):
            message = f"found the text {text[:40]!r} in {self.place}, expected elements only"
            yield ConfigProblem(file=file, line=self.line, column=1, rule="unexpected-text", message=message)
        for child in self.children:
            if id(child) in self._read_children:
                yield from child.unread(file)
            elif child.tag in self._read:
                message = f"{child.place} is there again, expected it once in {self.place}"
                yield ConfigProblem(file=file, line=child.line, column=1, rule="duplicate-element", message=message)
            else:
                yield self._unknown(file, child.line, child.tag, f"the element {child.tag!r}")

    def _unknown(self, file: str, line: int, name: str, what: str) -> ConfigProblem:
        kind = "unknown-attribute" if name.startswith("@") else "unknown-element"
        known = {each for each in self._read if each.startswith("@") == name.startswith("@")}
        wanted = ", ".join(sorted(each.removeprefix("@") for each in known)) or "none"
        hint = did_you_mean(name, known).replace("@", "")
        message = f"found {what} in {self.place}, which Falcon does not have there; expected: {wanted}"
        return ConfigProblem(file=file, line=line, column=1, rule=kind, message=message, hint=hint)


class UnreadableXml(ValueError):  # noqa: N818 - named for what it is about
    """A file is no XML that is read; `problem` says why."""

    def __init__(self, problem: ConfigProblem) -> None:
        self.problem = problem
        super().__init__(str(problem))


def read_xml(data: bytes, file: str) -> Element:
    """The root of an XML file.

    Args:
        data: the file's bytes.
        file: its path, for the problem.

    Raises:
        UnreadableXml: it is not well-formed, or has what is refused.
    """
    parser = create_parser(forbid_dtd=True)
    tree = _Tree()
    parser.setFeature(feature_namespaces, state=True)
    parser.setContentHandler(tree)
    parser.setErrorHandler(ErrorHandler())
    parser.setProperty(property_lexical_handler, tree)
    source = InputSource()
    source.setByteStream(BytesIO(data))
    try:
        parser.parse(source)
    except DefusedXmlException as error:
        what = type(error).__name__.removesuffix("Forbidden")
        message = f"found a document type or an entity ({what}), expected plain elements"
        hint = "write the text itself, and remove <!DOCTYPE ...>"
        raise UnreadableXml(tree.problem(file, "xml-entity", message, hint)) from error
    except (SAXException, ValueError, LookupError) as error:
        reason = error.getMessage() if isinstance(error, SAXException) else str(error)
        raise UnreadableXml(tree.problem(file, "xml-syntax", f"found no well-formed XML: {reason}")) from error
    return tree.root()


class _TooMuchError(SAXException):
    """Deeper than any real entity; recursion would fail on it, and a path of all its names takes long."""

    def __init__(self) -> None:
        super().__init__(f"more than {_MOST_ELEMENTS} elements, or {_MOST_DEPTH} levels of them")


class _Tree(ContentHandler, LexicalHandler):
    """Makes elements, and is told of comments."""

    def __init__(self) -> None:
        super().__init__()
        self._locator: Locator | None = None
        self._open: list[Element] = []
        self._roots: list[Element] = []
        self._counts: Counter[tuple[int, str]] = Counter()
        self._elements = 0

    def root(self) -> Element:
        """The one root of a document that was parsed to its end."""
        return self._roots[0]

    def problem(self, file: str, rule: str, message: str, hint: str = "") -> ConfigProblem:
        """A problem at the place that was reached."""
        column = 0 if self._locator is None else (self._locator.getColumnNumber() or 0) + 1
        return ConfigProblem(file=file, line=self._line(), column=column, rule=rule, message=message, hint=hint)

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802 - SAX's name
        self._locator = locator

    def startElementNS(  # noqa: N802 - SAX's name
        self,
        name: tuple[str | None, str],
        qname: str | None,  # noqa: ARG002 - the name says the same
        attrs: object,
    ) -> None:
        if len(self._open) >= _MOST_DEPTH or self._elements >= _MOST_ELEMENTS:
            raise _TooMuchError
        namespace, tag = name
        parent = self._open[-1] if self._open else None
        if parent is not None and (namespace or "") != parent.namespace:
            tag = f"{{{namespace or ''}}}{tag}"  # which is never requested
        siblings = parent.children if parent is not None else self._roots
        self._elements += 1
        self._counts[id(parent), tag] += 1  # elements live as long as the tree, so that no other gets the number
        number = self._counts[id(parent), tag]
        step = tag if number == 1 else f"{tag}[{number}]"
        place = step if parent is None else f"{parent.place}/{step}"
        element = Element(tag, namespace or "", place, self._line(), _attributes(attrs))
        siblings.append(element)
        self._open.append(element)

    def endElementNS(self, name: tuple[str | None, str], qname: str | None) -> None:  # noqa: ARG002, N802 - as above
        self._open.pop()

    def characters(self, content: str) -> None:
        if self._open:
            self._open[-1]._texts.append(content)  # noqa: SLF001 - it is being made here

    def processingInstruction(self, target: str, data: str) -> None:  # noqa: N802 - SAX's name
        self._remark("processing-instruction()", f"{target} {data}")

    @override
    def comment(self, content: str) -> None:
        self._remark("comment()", content)

    def _remark(self, what: str, text: str) -> None:
        """Remarks around the root, as licences are, are about the file."""
        if self._open:
            place = f"{self._open[-1].place}/{what}"
            self._open[0].remarks.append(Fact(place, self._line(), " ".join(text.split())))

    def _line(self) -> int:
        return 1 if self._locator is None else self._locator.getLineNumber() or 1


def _attributes(found: object) -> dict[str, str]:
    """The attributes by their local names; one of another namespace keeps it, and is thus unknown."""
    items: list[tuple[tuple[str | None, str], str]] = list(found.items())  # type: ignore[attr-defined]
    return {
        name if namespace is None else f"{{{namespace}}}{name}": value
        for (namespace, name), value in items
        if namespace != _INSTANCE
    }
