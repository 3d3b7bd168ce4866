"""Config repos of shapes that grow: a file of any size, made of one thing over and over."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

Texts = Mapping[str, str]
Shape = Callable[[int, random.Random], Texts]
"""Makes files with so many characters in all, about, over those of the standard repo."""
Unit = Callable[[int], str]
"""Makes the text of a unit from its number."""

_PROCESS = """kind: process
name: grown
frequency: days(1)
timeout: days(2)
clusters:
  - name: primary
    validity: {start: 2026-01-02T03:00Z, end: 2099-01-01T00:00Z}
workflow: {engine: spark_submit, path: workflows/report.py}
"""
_FEED = """kind: feed
name: grown
frequency: hours(1)
external: true
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    retention: {limit: days(10), action: delete}
"""
_PLACE = 'locations: {data: "/grown/${YEAR}/${MONTH}/${DAY}/${HOUR}"}\n'
_CLUSTER = """kind: cluster
name: grown
colo: fra
interfaces:
  write: {endpoint: "hdfs://grown.fra.example.com:8020"}
  readonly: {endpoint: "webhdfs://grown.fra.example.com:9870"}
locations: {staging: /projects/feedctl/staging, temp: /tmp, working: /projects/feedctl/working}
"""


def _repeated(size: int, unit: Unit, joint: str = "") -> str:
    """Make a text of about so many characters, each unit with its number."""
    count = max(1, size // len(unit(9999) + joint))
    return joint.join(unit(number) for number in range(count))


def _process(size: int, key: str, unit: Callable[[int], str], joint: str = "\n", around: str = "{}") -> Texts:
    body = around.format(_repeated(size, unit, joint))
    text = f"{_PROCESS}{key}:{body}\n"
    return {"processes/grown.yaml": text}


def _feed(size: int, key: str, unit: Callable[[int], str], joint: str = "\n", around: str = "{}") -> Texts:
    return {"feeds/grown.yaml": f"{_FEED}{_PLACE}{key}:{around.format(_repeated(size, unit, joint))}\n"}


_IN_LINE = " {{{}}}"
_ITEMS = " [{}]"
_BELOW = "\n{}"

_YAML: dict[str, Unit] = {
    "unknown keys": lambda number: f"k{number}: 1\n",
    "unknown keys on a line": lambda number: f"k{number}: 1, ",
    "secrets on a line": lambda number: f"password{number}: abcdef, ",
    "addresses on a line": lambda number: f"u{number}: 's3a://k:s@b', ",
    "tabs": lambda _: "- x\t\n",
    "tabs on a line": lambda _: "1,\t",
    "duplicate keys": lambda _: "a: 1\n",
    "duplicate keys on a line": lambda _: "a: 1, ",
    "tags": lambda number: f"- !t{number} x\n",
    "anchors": lambda number: f"- &a{number} x\n- *a{number}\n",
    "aliases of one": lambda number: "- &a x\n" if number == 0 else "- *a\n",
    "unknown aliases": lambda number: f"- *b{number}\n",
    "merge keys": lambda number: f"- &m{number} {{<<: {{x: 1}}}}\n",
    "indents": lambda number: f"{' ' * (number % 90)}k{number}:\n",
    "deep lists": lambda _: "[",
    "deep mappings": lambda _: "{a: ",
    "deep block": lambda _: "- ",
    "question marks": lambda _: "? ",
    "lines": lambda _: "\n",
    "blanks": lambda _: " ",
    "quotes": lambda _: "'",
    "double quotes": lambda _: '"',
    "escapes": lambda _: "\\",
    "colons": lambda _: ":",
    "hashes": lambda _: "#",
    "comments": lambda number: f"# comment {number}\n",
    "suppressions": lambda number: f"# feedctl: ignore[rule-{number}] because\n",
    "suppressions on a line": lambda number: f" # feedctl: ignore[rule-{number}] because",
    "rules of a suppression": lambda number: f"rule-{number}, ",
    "suppressed keys": lambda number: f"k{number}: 1 # feedctl: ignore[unknown-key] because\n",
    "documents": lambda _: "---\na: 1\n",
    "directives": lambda _: "%YAML 1.2\n",
    "block texts": lambda number: f"b{number}: |\n  x\n",
    "private keys": lambda _: "-----BEGIN PRIVATE KEY-----\n",
    "indented below a secret": lambda number: "password: >\n" if number == 0 else "  x\n",
    "control characters": lambda _: "\x01",
    "line ends of others": lambda _: "a: 1\u2028",
    "bytes": lambda _: "\u00e9",
}
"""Texts that are a whole file, by themselves, in brackets, below a key and behind an entity."""

_ENTITIES: dict[str, Shape] = {
    "inputs": lambda size, _: _process(
        size, "inputs", lambda n: f'  i{n}: {{feed: clicks, start: "now(-1,0)", end: "now(0,0)"}}', around=_BELOW
    ),
    "inputs of unknown feeds": lambda size, _: _process(
        size, "inputs", lambda n: f'  i{n}: {{feed: f{n}, start: "now(-1,0)", end: "now(0,0)"}}', around=_BELOW
    ),
    "inputs on a line": lambda size, _: _process(
        size, "inputs", lambda n: f'i{n}: {{feed: clicks, start: "now(-1,0)", end: "now(0,0)"}}', ", ", _IN_LINE
    ),
    "inputs that are wrong": lambda size, _: _process(
        size, "inputs", lambda n: f"  i{n}: {{feed: clicks}}", around=_BELOW
    ),
    "outputs": lambda size, _: _process(
        size, "outputs", lambda n: f'  o{n}: {{feed: clicks_hourly, instance: "now(-1,0)"}}', around=_BELOW
    ),
    "outputs of unknown feeds": lambda size, _: _process(
        size, "outputs", lambda n: f'  o{n}: {{feed: f{n}, instance: "now(-1,0)"}}', around=_BELOW
    ),
    "properties": lambda size, _: _process(size, "properties", lambda n: f"  p{n}: x", around=_BELOW),
    "properties that refer": lambda size, _: _process(
        size, "properties", lambda n: f'  p{n}: "${{p{n + 1}}} ${{YEAR}}"', around=_BELOW
    ),
    "reserved properties": lambda size, _: _process(size, "properties", lambda n: f"  FEEDCTL_{n}: x", around=_BELOW),
    "properties that are secret": lambda size, _: _process(
        size, "properties", lambda n: f"password{n}: abcdef", ", ", _IN_LINE
    ),
    "late inputs": lambda size, _: _process(
        size, "late_process", lambda n: f"i{n}: workflows/late.sql", ", ", " {{policy: final, inputs: {{{}}}}}"
    ),
    "arguments": lambda size, _: {
        "processes/grown.yaml": _PROCESS.replace(
            "report.py}", f"report.py, args: [{_repeated(size, lambda n: f'a{n}', ', ')}]}}"
        )
    },
    "clusters of a feed": lambda size, _: (
        {**_feed(size, "x-clusters", lambda n: f"  - name: c{n}", around=_BELOW)}
        | {
            "feeds/grown.yaml": _FEED
            + _repeated(
                size,
                lambda n: f"  - name: c{n}\n    validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}\n",
            )
            + _PLACE
        }
    ),
    "the same cluster of a feed": lambda size, _: {
        "feeds/grown.yaml": _FEED
        + _repeated(
            size,
            lambda _: "  - name: primary\n    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}\n",
        )
        + _PLACE
    },
    "clusters of a process": lambda size, _: {
        "processes/grown.yaml": _PROCESS.replace(
            "workflow:",
            _repeated(
                size,
                lambda n: f"  - name: c{n}\n    validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}\n",
            )
            + "workflow:",
        )
    },
    "tags of a feed": lambda size, _: _feed(size, "tags", lambda n: f"t{n}: x", ", ", _IN_LINE),
    "a list of tags": lambda size, _: _feed(size, "tags", lambda n: f"t{n}", ", ", _ITEMS),
    "groups": lambda size, _: _feed(size, "groups", lambda n: f"g{n}", ", ", _ITEMS),
    "properties of a feed": lambda size, _: _feed(size, "properties", lambda n: f"p{n}: x", ", ", _IN_LINE),
    "partitions": lambda size, _: _feed(size, "partitions", lambda n: f"p{n}", ", ", _ITEMS),
    "columns": lambda size, _: _feed(size, "schema", lambda n: f"c{n}: string", ", ", _IN_LINE),
    "long template": lambda size, _: {
        "feeds/grown.yaml": f'{_FEED}locations: {{data: "/{"${YEAR}/" * min(size // 8, 500)}"}}\n'
    },
    "alternatives in a template": lambda size, _: {
        "feeds/grown.yaml": f'{_FEED}locations: {{data: "/x{"{a,b}" * min(size // 5, 800)}/${{YEAR}}"}}\n'
    },
    "stars in a template": lambda size, _: {
        "feeds/grown.yaml": f'{_FEED}locations: {{data: "/{"a*" * min(size // 2, 2000)}/${{YEAR}}"}}\n'
    },
    "locations": lambda size, _: {
        "feeds/grown.yaml": _FEED
        + "locations: {"
        + _repeated(size, lambda n: f'l{n}: "/g{n}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"', ", ")
        + "}\n"
    },
    "long name": lambda size, _: {"feeds/grown.yaml": _FEED.replace("grown", "g" * min(size, 4000)) + _PLACE},
    "long reference": lambda size, _: _process(
        min(size, 4000), "inputs", lambda _: "f", "", ' {{i: {{feed: {}, start: "now(-1,0)", end: "now(0,0)"}}}}'
    ),
    "interfaces": lambda size, _: {
        "clusters/grown.yaml": _CLUSTER.replace(
            "locations:", _repeated(size, lambda n: f'  i{n}: {{endpoint: "hdfs://h{n}:8020"}}\n') + "locations:"
        )
    },
    "hadoop settings": lambda size, _: {
        "clusters/grown.yaml": f"{_CLUSTER}hadoop_conf:\n" + _repeated(size, lambda n: f"  fs.x{n}: x\n")
    },
    "secret hadoop settings": lambda size, _: {
        "clusters/grown.yaml": f"{_CLUSTER}hadoop_conf: {{"
        + _repeated(size, lambda n: f"fs.x{n}.password: abcdef", ", ")
        + "}\n"
    },
    "locations of a cluster": lambda size, _: {
        "clusters/grown.yaml": _CLUSTER.replace("staging:", _repeated(size, lambda n: f"l{n}: /x{n}, ") + "staging:")
    },
    "owners": lambda size, _: {
        "repo.yaml": f"name: web\nowners: [{_repeated(size, lambda n: f'o{n}@example.com', ', ')}]\n"
    },
    "accepted rules": lambda size, _: {
        "repo.yaml": f"name: web\naccept: [{_repeated(size, lambda n: f'r{n}', ', ')}]\n"
    },
    "lint settings": lambda size, _: {
        "repo.yaml": f"name: web\nlint: {{rules: {{{_repeated(size, lambda n: f'r{n}: {{severity: off}}', ', ')}}}}}\n"
    },
    "trusted links": lambda size, _: {
        "repo.yaml": f"name: web\ntrusted_links: [{_repeated(size, lambda n: f'/l{n}', ', ')}]\n"
    },
    "holds": lambda size, _: {
        "holds.yaml": "holds:\n" + _repeated(size, lambda n: f"  - {{feed: clicks, reason: r{n}, path: /data/x{n}}}\n")
    },
    "overlays": lambda size, _: {
        "environments/grown.yaml": "feeds:\n" + _repeated(size, lambda n: f"  f{n}: {{frequency: hours(1)}}\n")
    },
    "entities": lambda size, _: {
        f"feeds/g{n}.yaml": _FEED.replace("grown", f"g{n}") + _PLACE.replace("grown", f"g{n}")
        for n in range(max(1, size // len(_FEED + _PLACE)))
    },
    "entities on one base": lambda size, _: {
        f"feeds/g{n}.yaml": _FEED.replace("grown", f"g{n}") + _PLACE for n in range(max(1, size // len(_FEED + _PLACE)))
    },
    "entities of one name": lambda size, _: {
        f"feeds/g{n}.yaml": _FEED + _PLACE.replace("grown", f"g{n}") for n in range(max(1, size // len(_FEED + _PLACE)))
    },
    "processes with one output": lambda size, _: {
        f"processes/p{n}.yaml": _PROCESS.replace("grown", f"p{n}")
        + 'outputs: {counts: {feed: clicks_hourly, instance: "now(-1,0)"}}\n'
        for n in range(max(1, size // len(_PROCESS)))
    },
    "processes in a chain": lambda size, _: {
        name: text
        for n in range(max(1, size // len(_PROCESS + _FEED)))
        for name, text in (
            (f"feeds/f{n}.yaml", _FEED.replace("grown", f"f{n}") + _PLACE.replace("grown", f"f{n}")),
            (
                f"processes/p{n}.yaml",
                _PROCESS.replace("grown", f"p{n}")
                + f'inputs: {{a: {{feed: f{n}, start: "now(0,0)", end: "now(0,0)"}}}}\n'
                + f'outputs: {{b: {{feed: f{n + 1}, instance: "now(0,0)"}}}}\n',
            ),
        )
    },
}


def _in_a_file(unit: Unit, begin: str = "", end: str = "") -> Shape:
    """Return the shape of a file that has a unit over and over between two texts."""
    return lambda size, _: {"feeds/grown.yaml": f"{begin}{_repeated(size, unit)}{end}"}


def _in_a_comment(unit: Unit) -> Shape:
    begin = f"{_FEED}{_PLACE}# "
    return lambda size, _: {"feeds/grown.yaml": begin + _repeated(size, unit).replace("\n", " ")}


def shapes() -> dict[str, Shape]:
    """Return all shapes by name."""
    found = dict(_ENTITIES)
    for name, unit in _YAML.items():
        found[f"{name}: a file"] = _in_a_file(unit)
        found[f"{name}: in braces"] = _in_a_file(unit, "{", "}\n")
        found[f"{name}: in brackets"] = _in_a_file(unit, "[", "]\n")
        found[f"{name}: behind a feed"] = _in_a_file(unit, _FEED + _PLACE)
        found[f"{name}: in a comment"] = _in_a_comment(unit)
    return found


def mixed(first: str, second: str) -> Shape:
    """Grow two shapes in one repo; where they have a file in common, its text is that of both."""

    def made(size: int, chance: random.Random) -> Texts:
        known = shapes()
        one, other = known[first](size // 2, chance), known[second](size // 2, chance)
        both = {name: one[name] + other[name] for name in one.keys() & other.keys()}
        return {**one, **other, **both}

    return made
