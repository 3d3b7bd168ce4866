"""The most common mistakes of new users: one change of the template each, and the finding that leads out of it.

They are what people bring along (cron text, `48h`, `%Y/%m/%d`, `{{ ds }}`), what YAML does to a text without quotes,
and what is easily mistyped.
"""

from __future__ import annotations

from typing import NamedTuple

FEED, CLICKS = "feeds/web/clicks_hourly.yaml", "feeds/web/clicks.yaml"
CUSTOMERS = "feeds/crm/crm_customers.yaml"
JOB, ACTIVITY = "processes/clicks_hourly_job.yaml", "processes/customer_activity_job.yaml"
SCRIPT, COUNTRIES = "workflows/clicks_hourly.sql", "processes/clicks_by_country_job.yaml"
FIELDS = "write dates as ${YEAR}, ${MONTH}, ${DAY}, ${HOUR} and ${MINUTE}"
QUOTES = "put quotes around the value"


class Mistake(NamedTuple):
    """A mistake, and what lint says about it.

    Attributes:
        file: of the template.
        right: what stands there; empty: the file is new, and `wrong` is its content.
        wrong: what the user wrote.
        rule: of the only finding.
        message: a part of it.
        hint: a part of it; empty: the message says what to do, or there is no hint.
    """

    file: str
    right: str
    wrong: str
    rule: str
    message: str
    hint: str = ""


def _frequency(wrong: str, hint: str) -> Mistake:
    return Mistake(FEED, "frequency: hours(1)", f"frequency: {wrong}", "bad-frequency", "expected", hint)


def _dates(wrong: str, rule: str, hint: str, message: str = "") -> Mistake:
    return Mistake(FEED, "${YEAR}-${MONTH}-${DAY}/${HOUR}", wrong, rule, message, hint)


def _syntax(right: str, wrong: str, message: str, hint: str) -> Mistake:
    return Mistake(FEED, right, wrong, "yaml-syntax", message, hint)


PERIODS = (
    Mistake(FEED, "limit: months(3)", "limit: 60", "wrong-type", "found the number 60", "hours(60), days(60)"),
    Mistake(FEED, "limit: months(3)", 'limit: "60"', "bad-frequency", "found '60'", "name the unit: minutes(60)"),
    Mistake(FEED, "limit: months(3)", "limit: 48h", "bad-frequency", "found '48h'", "did you mean hours(48)?"),
    Mistake(FEED, "limit: months(3)", "limit: 60 days", "bad-frequency", "", "did you mean days(60)?"),
    _frequency('"0 * * * *"', "no cron text: did you mean hours(1)?"),
    _frequency('"*/15 * * * *"', "did you mean minutes(15)?"),
    _frequency('"30 2 * * *"', "did you mean days(1)? The start of the validity sets the time of day"),
    _frequency('"@daily"', "did you mean days(1)?"),
    _frequency("daily", "did you mean days(1)?"),
    _frequency("hour(1)", "did you mean hours(1)?"),
    _frequency("PT1H", "did you mean hours(1)?"),
    _frequency("01:00", "did you mean hours(1)?"),
    _frequency("hours 1", "did you mean hours(1)?"),
    _frequency("hours(0)", "the shortest frequency is hours(1)"),
    _frequency("seconds(30)", "the shortest frequency is minutes(1)"),
    _frequency("hours(1) // hourly", "a comment begins with a blank and #"),
)
TEMPLATES = (
    _dates("%Y/%m/%d/%H", "undated-data", FIELDS, "no date field"),
    _dates("yyyy/MM/dd/HH", "undated-data", FIELDS),
    _dates("{{ ds }}", "bad-path-template", FIELDS),
    _dates("${yyyy}/${MM}/${dd}", "bad-path-template", FIELDS),
    _dates("${YEER}-${MONTH}-${DAY}/${HOUR}", "bad-path-template", "did you mean ${YEAR}?"),
    _dates("{YEAR}-${MONTH}-${DAY}/${HOUR}", "bad-path-template", "did you mean ${YEAR}?"),
    _dates("$YEAR/$MONTH/$DAY/$HOUR", "bad-path-template", "did you mean ${YEAR}?"),
    _dates("${YEAR}-${MONTH}-${DAY}", "instances-share-path", "add ${HOUR} to the template"),
    _dates("all", "undated-data", "add ${YEAR}"),
    Mistake(
        FEED, '"/data/clicks_hourly', '"data/clicks_hourly', "bad-path-template", "absolute", "begin it with a slash"
    ),
    Mistake(FEED, '"/data/', "\u201c/data/", "bad-path-template", "absolute path", "use plain quotes"),
)
SYNTAX = (
    _syntax(
        "    validity: {", "   validity: {", "indented by 3 blanks, and the list from line 12 on by 2", "indent it"
    ),
    _syntax("groups: [online", "  groups: [online", "indented by 2 blanks", "indent it like the lines"),
    _syntax("    retention: {", "      retention: {", "indented by 6 blanks", "indent it like the lines"),
    _syntax("kind: feed", " kind: feed", "the first key is indented by 1 blank", "without blanks"),
    _syntax("frequency: hours(1)", "frequency hours(1)", "found no colon", "write `frequency: `"),
    _syntax("frequency: hours(1)", "frequency:hours(1)", "found no colon", "write `frequency: `"),
    _syntax("frequency: hours(1)", "frequency = hours(1)", "found no colon", "write `frequency: `"),
    _syntax("action: delete}", "action: delete", "the { is not closed", "write } where it ends"),
    _syntax("[online, bi]", "[online, bi", "the [ is not closed", "write ] where it ends"),
    _syntax('/${HOUR}"', "/${HOUR}", "the quote is not closed", "behind the text"),
    _syntax("clicks per page and hour", "note: per page", "second colon", 'description: "..."'),
    _syntax("clicks per page and hour", "@web per page", "found '@', which cannot begin a value", QUOTES),
    _syntax('"/data/clicks_hourly/', '"\\data\\clicks_hourly\\', "found a backslash", "write paths with /"),
    _syntax("  - name: primary", "  -name: primary", "no list item", "put a blank behind the dash"),
    _syntax("clusters:\n  - name", "clusters: - name", "found '-' behind a key", "begin the list on the next line"),
    Mistake(JOB, 'partition: "*/*"', "partition: */*", "yaml-syntax", "found '*', which begins an alias", QUOTES),
    Mistake(FEED, "    retention: {", "\tretention: {", "tab", "found a tab", "indent with blanks"),
    Mistake(FEED, "groups:", "groups: [web]\ngroups:", "duplicate-key", "'groups' is there twice", "keep one of them"),
)
SHAPES = (
    Mistake(FEED, "frequency:", "frequencies:", "unknown-key", "'frequencies'", "did you mean frequency?"),
    Mistake(FEED, "frequency: hours(1)\n", "", "missing-key", "missing key 'frequency'", "One instance every so often"),
    Mistake(FEED, "[online, bi]", "online", "wrong-type", "expected a list", "write a list: [..., ...]"),
    Mistake(
        FEED, "{limit: months(3), action: delete}", "months(3)", "wrong-type", "expected a mapping", "{limit: ...}"
    ),
    Mistake(FEED, "  - name: primary\n", "  primary:\n", "wrong-type", "expected a list", "each item begins with '- '"),
    Mistake(CLICKS, "external: true", "external: yes", "wrong-type", "expected true or false", "did you mean true?"),
    Mistake(CUSTOMERS, "keep_last: 7", 'keep_last: "7"', "wrong-type", "expected a whole number", "remove the quotes"),
    Mistake(
        FEED, "start: 2026-01-01T00:00Z", "start: 2026-01-01", "bad-instant", "", "did you mean 2026-01-01T00:00Z?"
    ),
    Mistake(FEED, "start: 2026-01-01T00:00Z", "start: 01.01.2026", "bad-instant", "expected a date", "in UTC"),
    Mistake(JOB, 'start: "now(-1,0)"', 'start: "now"', "bad-el", "expected '('", "did you mean now(0,0)?"),
    Mistake(JOB, 'start: "now(-1,0)"', 'start: "${now(-1,0)}"', "bad-el", "", 'write it without ${}: "now(-1,0)"'),
    Mistake(JOB, 'instance: "now(-1,0)"', "instance: now(-1,0)", "bad-el", "", "put quotes around it"),
)
NAMES = (
    Mistake(FEED, "- name: primary", "- name: primry", "unknown-cluster", "'primry'", "did you mean primary?"),
    Mistake(JOB, "feed: clicks,", "feed: clikcs,", "unknown-feed", "'clikcs'", "did you mean clicks?"),
    Mistake(FEED, "name: clicks_hourly", "name: clicks", "file-name", "expected 'clicks_hourly'", "the entity's name"),
    Mistake(JOB, "workflows/clicks_hourly.sql", "clicks_hourly.sql", "missing-workflow", "", "mean workflows/clicks"),
    Mistake(CUSTOMERS, "\ntimezone: Europe/Berlin", "\ntimezone: Europe/Berln", "bad-timezone", "Europe/Berlin, "),
    Mistake(
        CUSTOMERS, "\ntimezone: Europe/Berlin", "\ntimezone: America/New_York", "path-timezone",
        "have one path, where clocks change", "timezone: Europe/Berlin, in which the validity begins at midnight",
    ),
    Mistake(
        "defaults.yaml", "path_timezone: UTC", "path_timezone: Europe/Berlin", "instances-share-path",
        "2027-10-31T00:00Z and 2027-10-31T01:00Z, named in Europe/Berlin", "path_timezone: UTC",
    ),
)  # fmt: skip
SCRIPTS = (
    Mistake(SCRIPT, "'${counts}'", "'${count}'", "unknown-property", "${count}", "did you mean counts"),
    Mistake(SCRIPT, "${threshold}", "${order}", "unknown-property", "${order}", "add it to the properties"),
    Mistake(COUNTRIES, '"${collected}"', '"${colected}"', "unknown-property", "", "did you mean collected?"),
    Mistake(
        "workflows/customer_activity.sh", "set -eu", "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLA", "secret-in-repo",
        "an AWS access key", "name an environment variable",
    ),
    Mistake("entities/a.yaml", "", "kind: feed\nname: a\n", "misplaced-entity", "outside of feeds/", "feeds/a.yaml"),
    Mistake("feed/a.yaml", "", "kind: feed\nname: a\n", "file-name", "expected feeds/", "move the file"),
    Mistake("feeds/a.yml", "", "kind: feed\nname: a\n", "file-name", "expected .yaml", "rename the file"),
)  # fmt: skip
MISTAKES = (*PERIODS, *TEMPLATES, *SYNTAX, *SHAPES, *NAMES, *SCRIPTS)
