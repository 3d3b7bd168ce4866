from __future__ import annotations

from toolkit.entities.nearest import nearest, suggestion


def test_the_most_alike_come_first_and_letter_case_does_not_count() -> None:
    assert nearest("Clicks", ["clicks", "click_log", "views"]) == ("clicks",)
    assert nearest("click", ["clicks", "clock", "views"]) == ("clicks", "clock")


def test_several_equally_good_names_are_all_offered() -> None:
    assert suggestion("feed_1", ["feed_2", "feed_3"]) == "did you mean feed_3 or feed_2?"


def test_a_few_names_are_all_listed_when_none_is_alike() -> None:
    assert suggestion("x", ["views", "clicks"]) == "known: clicks, views"
    assert suggestion("x", []) == ""
    assert suggestion("x", [f"name_{number}" for number in range(100)]) == ""


def test_thousands_of_names_are_searched_in_the_neighbourhood() -> None:
    names = [f"feed_{number:05}" for number in range(20_000)]
    assert "feed_01234" in nearest("feed_01234x", names)
