"""Check of toolkit for import circles, words that the field does not use, docstrings without a verb, and environment.

Prints the circles, those of annotations included; the words that an architecture review replaced by standard terms
(CONTRIBUTING: "Names are the field's standard terms"), in identifiers of tests as well; the docstrings that begin as no
sentence and no name does; classes of two packages with one name; and the places that read the environment of the
process, or start a program with it, away from the boundary.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORDS = re.compile(
    r"\b(?:Brake|Crews?|Shift|Lifeline|Unrecorded|Forsaken|Departures|Strangers?|Scales|OldWalk|YoungWalk|OneByOne|"
    r"Neighbourhood|Spread|SpreadMeans|HereAndNow|AfterLook|Begun|doomed|DoomedPath|Doer|deeds|give_up_all|send_home)\b"
)
ALLOWED = {"toolkit/ledger/jobs"}
"""`Begun` is a job there that has begun."""
OPENINGS = re.compile(r"(?:What|Those|Of|Who|Whoever|Whose|Whether|Where|All that|See)\b")
"""A function's docstring begins with a verb, that of a class or module with a noun; an override needs none."""
OPENINGS_OF_TESTS = re.compile(r"(?:Whether|Where|All that)\b")
"""Openings that are refused in tests too; the others of `OPENINGS` are refused in the product alone."""
BANNED = re.compile(
    r"(?:^|_)(?:asked|told|said|stakes?|turns?|ways|whose|nobody|whoever|standing|lying|habits?|outlook|lifting|taking|"
    r"beginning|hears|heard|tells|gated?|gating|judge[ds]?|judging|admit|doomed|deeds)(?=_|$)"
)
"""Words that no identifier has (requested, reported, output, slot, message, validation ... are the terms)."""
READERS = {"toolkit/variables.py", "toolkit/quality/spark_job.py"}
"""Modules that use `os.environ`: the one that reads it, and a program that sets variables of its own libraries."""
BOUNDARY = re.compile(
    r"toolkit/(?:variables|jobs|cli/\w+|config_source/git|catalog/adapters/(?:gateway|connections)|transfer/adapters/spark_executors|storage/(?:opening|hdfs/client|webhdfs/file_system|s3/client|cloud/file_system))\.py"
)
"""Modules that ask for the variables of the process: commands, `toolkit.jobs`, git as a program of the user, and the
clients of stores and of Java, whose libraries read the same variables by themselves. All others are handed them."""
STARTS = re.compile(r"subprocess\.(?:run|Popen|call|check_call|check_output)")


def modules() -> dict[str, Path]:
    """Return the path of each module, by its dotted name."""
    found = {}
    for path in sorted((ROOT / "toolkit").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """Return the imports at the top of a module, under TYPE_CHECKING too; those in functions are late on purpose."""
    tree, found = ast.parse(path.read_text()), set()
    for node in (each for part in tree.body for each in ([part, *part.body] if isinstance(part, ast.If) else [part])):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & known.keys()


def openings(place: str, text: str) -> Iterator[str]:
    """Yield the place of each docstring that begins with one of `OPENINGS`, in tests `OPENINGS_OF_TESTS`."""
    refused = OPENINGS_OF_TESTS if place.startswith("tests/") else OPENINGS
    if not re.search(rf'"""{refused.pattern}', text):  # to parse all tests would take seconds
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            match = refused.match(ast.get_docstring(node) or "")
            if match:
                yield f"{place}:{node.body[0].lineno}: a docstring begins with {match[0]!r}"


def names(place: str, text: str) -> Iterator[str]:
    """Yield the identifiers that have one of the words `BANNED`; names of test functions are sentences."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not token.string.startswith("test_"):
            match = BANNED.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", token.string).lower())
            if match:
                yield f"{place}:{token.start[0]}: {token.string} has the word {match[0].strip('_')!r}"


def environment(place: str, text: str) -> Iterator[str]:
    """Yield where a module reads the process's environment away from the boundary, or starts a program with it."""
    for node in ast.walk(ast.parse(text)):
        name = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name | ast.ImportFrom) else ""
        if re.search(r"\bos\.(?:environb?|getenvb?|putenv)$|^from os import .*env", name) and place not in READERS:
            yield f"{place}:{node.lineno}: {name} is read in toolkit/variables.py alone; take `Variables`"
        elif name == "process_variables" and not BOUNDARY.fullmatch(place):
            yield f"{place}:{node.lineno}: only the boundary calls process_variables; take `Variables` from the caller"
        elif isinstance(node, ast.Call) and STARTS.fullmatch(ast.unparse(node.func)):
            given = any(each.arg == "env" for each in node.keywords)
            yield from () if given else (f"{place}:{node.lineno}: a program is started without env=",)


def classes_of_one_name(texts: dict[str, str]) -> Iterator[str]:
    """Yield the public class names that two packages use, by the text of each place."""
    packages: dict[str, set[str]] = {}
    for place, text in texts.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                packages.setdefault(node.name, set()).add(place.split("/")[1])
    for name, found in sorted(packages.items()):
        if len(found) > 1:
            yield f"two classes are called {name}, in {', '.join(sorted(found))}"


def circles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """Sets of modules each of which reaches the others (Tarjan), largest import chains first found."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> Iterator[list[str]]:
        index[node] = low[node] = len(index)
        stack.append(node)
        for following in sorted(graph[node]):
            if following not in index:
                yield from visit(following)
                low[node] = min(low[node], low[following])
            elif following in stack:
                low[node] = min(low[node], index[following])
        if low[node] == index[node]:
            circle = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(circle) > 1:
                yield sorted(circle)

    for node in sorted(graph):
        if node not in index:
            yield from visit(node)


def main() -> int:
    """Print the findings, and return the exit code."""
    known = modules()
    graph = {name: imports(path, known) for name, path in known.items()}
    found = [f"import circle: {' <-> '.join(each)}" for each in circles(graph)]
    for path in known.values():
        place = path.relative_to(ROOT).as_posix()
        if not any(place.startswith(each) for each in ALLOWED):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found += [f"{place}:{number}: a private word: {match[0]}" for match in WORDS.finditer(line)]
        found += openings(place, path.read_text())
        found += environment(place, path.read_text())
    for path in sorted(each for root in ("toolkit", "entrypoints", "tests") for each in (ROOT / root).rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        found += names(place, path.read_text())
        found += openings(place, path.read_text()) if place.startswith("tests/") else ()
    found += classes_of_one_name({path.relative_to(ROOT).as_posix(): path.read_text() for path in known.values()})
    for each in found:
        print(each)  # noqa: T201 - that is what it is for
    return 1 if found else 0


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    sys.exit(main())
