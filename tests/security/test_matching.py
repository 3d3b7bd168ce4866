"""No template and no name of the data makes matching names slow.

Defended: the linter, against whoever may open a pull request (one line with many globs, choices or open variables);
retention and planning, against whoever may write data (one folder with a name made for it). Names are matched in time
linear in their length; whether two templates meet is found out in a bounded number of steps.
Not defended: the number of templates; each is compared with those that stand beside it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.security.counting import steps
from toolkit.el import ElError, PathTemplate
from toolkit.el.fields import REGEX
from toolkit.el.matching import regex_of, second_open
from toolkit.el.segment import OWN_PREFIX, Found, Segment
from toolkit.el.tokens import DateField, Glob, Literal, Token, Variable, glob_regex, tokenize
from toolkit.linter.overlap import MOST_PAIRS, can_overlap
from toolkit.planning.blast_radius.places import BoundLocation

GLOBS = "*a" * 12 + "b"
CHOICES = "{a,aa}" * 40 + "b"
VARIABLES = "-".join(f"${{v{number}}}" for number in range(6)) + "b"
REFUSED = [GLOBS, CHOICES, VARIABLES, "${v}" * 30, "${v}-${v}", "*{,a}?[a-z]*a*", "{a,ab}*", "${YEAR}*${YEAR}-*"]
ONE_OPEN = ["*ab", "${v}ab", "{a,aa}b", "[a-z]?*{a,b}a", "${YEAR}-*-${YEAR}", "a" * 50 + "*" + "a" * 50]


def segment(text: str) -> Segment:
    return Segment(tuple(tokenize(text)), text)


@pytest.mark.parametrize("text", ONE_OPEN)
@pytest.mark.parametrize("unit", ["a-", "a", "aa-", "\u00e9"])
def test_matching_takes_steps_in_proportion_to_the_length_of_the_name(text: str, unit: str) -> None:
    read = segment(text).match
    short, long = steps(lambda: read(unit * 120)), steps(lambda: read(unit * 1200))
    assert long <= 11 * short


@pytest.mark.parametrize("text", REFUSED)
def test_a_name_with_two_parts_of_open_length_is_refused(text: str) -> None:
    with pytest.raises(ElError, match="at most one part of open length in a name"):
        PathTemplate(f"/data/{text}/${{YEAR}}").bind({})


def test_variables_with_values_are_no_open_parts() -> None:
    template = PathTemplate("/data/${env}-${region}-${part}/${YEAR}")
    period = template.bind({"env": "prod", "region": "us"}).parse("/data/prod-us-a-b/2026")
    assert period is not None
    assert period.variables == {"part": "a-b"}
    with pytest.raises(ElError, match="at most one part of open length") as caught:
        template.bind({"env": "prod"})
    assert (caught.value.position, caught.value.found) == (23, "${part}")
    with pytest.raises(ElError, match="at most one part of open length"):
        template.parse("/data/prod-us-a/2026")


PARTS = ("a", "b", "-", "?", "*", "[ab]", "[!a]", "{a,aa}", "{ab,ba}", "{a,b}", "{,b}", "${x}", "${y}", "${MONTH}", "1")
TEXTS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=7).map("".join)
READABLE = TEXTS.filter(lambda text: "**" not in text and second_open(tuple(tokenize(text))) is None).map(segment)
NAMES = st.lists(st.sampled_from(["a", "b", "ab", "aa", "-", "01", "1", "/", "\n"]), max_size=9).map("".join)


def by_backtracking(tokens: tuple[Token, ...], name: str) -> Found | None:
    """Return what names meant before: one regular expression for the whole name."""
    seen: dict[str, int] = {}
    pattern = f"(?!{re.escape(OWN_PREFIX)})"
    for token in tokens:
        match token:
            case Literal(text):
                pattern += re.escape(text)
            case Glob(text):
                pattern += glob_regex(text)
            case DateField() | Variable():
                key = token.field if isinstance(token, DateField) else token.name
                body = f"(?:\\{seen[key]})" if key in seen else None
                seen.setdefault(key, len(seen) + 1)
                pattern += body or f"({REGEX[token.field] if isinstance(token, DateField) else '[^/]+'})"
    found = re.fullmatch(pattern, name, re.DOTALL)
    if found is None:
        return None
    fields = {token.field: found[seen[token.field]] for token in tokens if isinstance(token, DateField)}
    return Found(fields, {token.name: found[seen[token.name]] for token in tokens if isinstance(token, Variable)})


@given(READABLE, NAMES)
def test_names_mean_what_they_meant_by_a_regular_expression(one: Segment, name: str) -> None:
    assert one.literal is not None or one.match(name) == by_backtracking(one.tokens, name)


def could_end_at_several_places(token: Token) -> bool:
    if isinstance(token, Glob) and token.text.startswith("{"):
        texts = set(token.text[1:-1].split(","))
        return any(one != other and other.startswith(one) for one in texts for other in texts)
    return isinstance(token, Variable) or token == Glob("*")


@given(TEXTS.filter(lambda text: "**" not in text))
def test_the_second_part_that_could_end_at_several_places_is_found(text: str) -> None:
    found = [token for token in tokenize(text) if could_end_at_several_places(token)]
    assert second_open(tuple(tokenize(text))) == (found[1] if len(found) > 1 else None)


@pytest.mark.parametrize("text", ["${YEAR}-*-${YEAR}", "${YEAR}.{gz,xz}-${v}-${YEAR}-[ab]?", "${YEAR}${YEAR}"])
def test_what_is_repeated_otherwise_is_read(text: str) -> None:
    name = text.replace("${v}", "us").replace("${YEAR}", "2026").replace("*", "x").replace("{gz,xz}", "xz")
    wrong = name[:-2].replace("us", "de", 1).replace("2026", "2025", 1) + name[-2:]
    name, wrong = name.replace("[ab]?", "bc"), wrong.replace("[ab]?", "bc")
    assert segment(text).match(name) is not None
    assert segment(text).match(wrong) is None


def test_whether_templates_meet_is_found_in_a_bounded_number_of_steps() -> None:
    for one, other in product((*ONE_OPEN, "?" * 1000 + "*"), (*ONE_OPEN, "*" + "?" * 1000)):
        names = segment(f"{one}x"), segment(f"{other}y")
        assert steps(partial(can_overlap, *names)) < 80 * MOST_PAIRS


def test_templates_with_very_many_choices_are_told_apart() -> None:
    assert not can_overlap(segment("{a,b}" * 10 + "x"), segment("{a,b}" * 10 + "y"))
    assert can_overlap(segment("{a,b}" * 10 + "x"), segment("{a,b}" * 5 + "*"))


def test_samples_of_a_template_are_a_few_however_many_names_it_has() -> None:
    pattern = PathTemplate("/" + "{a,b}" * 40 + "/*a/${YEAR}").pattern
    place = BoundLocation(role="data", text="", timezone="UTC", start=(), pattern=pattern)
    count = steps(lambda: list(place.samples(datetime(2026, 1, 1, tzinfo=UTC))))
    assert count < 2000
    assert len(set(islice(place.samples(datetime(2026, 1, 1, tzinfo=UTC)), 100))) > 1


def test_plain_dates_never_have_feedctls_own_names() -> None:
    bound = PathTemplate("/data/.feed${x}${YEAR}", bound={"x": "ctl"}).pattern.segments[-1]
    assert bound.match(".feedctl2026") is None
    assert bound.regex.fullmatch(".feedctl2026") is None
    assert regex_of(bound.tokens).fullmatch(".feedctl2026") is not None
