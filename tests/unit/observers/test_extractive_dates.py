"""Relative dates against a Tuesday, 2026-03-10."""

from __future__ import annotations

from datetime import date

import pytest

from neve.observers.extractive.english.dates import annotate

TUESDAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("I see the dentist tomorrow at nine", "tomorrow (meaning 2026-03-11)"),
        ("We leave tomorrow morning", "tomorrow morning (meaning 2026-03-11)"),
        ("Tomorrow's meeting is cancelled", "Tomorrow's (meaning 2026-03-11)"),
        ("I went there yesterday", "yesterday (meaning 2026-03-09)"),
        ("I slept badly last night", "last night (meaning 2026-03-09)"),
        ("She called me today", "today (meaning 2026-03-10)"),
        ("We go out tonight", "tonight (meaning 2026-03-10)"),
        ("It starts the day after tomorrow", "the day after tomorrow (meaning 2026-03-12)"),
        ("I came back the day before yesterday", "the day before yesterday (meaning 2026-03-08)"),
        ("We fly next Friday", "next Friday (meaning 2026-03-20)"),
        ("We fly this Friday", "this Friday (meaning 2026-03-13)"),
        ("I met her last Friday", "last Friday (meaning 2026-03-06)"),
        ("My exam is on Monday", "Monday (meaning 2026-03-16)"),
        ("I saw Tom on Monday", "Monday (meaning 2026-03-09)"),
        ("I saw Tom on Tuesday", "Tuesday (meaning 2026-03-03)"),
        ("I booked a table for Friday", "Friday (meaning 2026-03-13)"),
        ("It must be fixed by Thursday", "Thursday (meaning 2026-03-12)"),
        ("I start in two weeks", "in two weeks (meaning about 2026-03-24)"),
        ("I start in 3 days' time", "in 3 days' time (meaning 2026-03-13)"),
        ("I moved here two weeks ago", "two weeks ago (meaning about 2026-02-24)"),
        ("I bought it a couple of months ago", "a couple of months ago (meaning about 2026-01)"),
        ("I quit a year ago", "a year ago (meaning about 2025-03)"),
        ("I got back three years ago", "three years ago (meaning about 2023)"),
        ("last week was hard", "last week (meaning 2026-03-02 to 2026-03-08)"),
        ("this week is calm", "this week (meaning 2026-03-09 to 2026-03-15)"),
        ("next week I travel", "next week (meaning 2026-03-16 to 2026-03-22)"),
        ("We go hiking this weekend", "this weekend (meaning 2026-03-14 to 2026-03-15)"),
        ("I painted a lot this weekend", "this weekend (meaning 2026-03-07 to 2026-03-08)"),
        ("We camped last weekend", "last weekend (meaning 2026-03-07 to 2026-03-08)"),
        ("I moved last month", "last month (meaning 2026-02)"),
        ("I will move next year", "next year (meaning 2027)"),
        ("I was in Rome last summer", "last summer (meaning summer 2025)"),
        ("I learned to ski last winter", "last winter (meaning winter 2025/26)"),
        ("We go to Rome next summer", "next summer (meaning summer 2026)"),
        ("I will travel to Japan in May", "in May (meaning 2026-05)"),
        ("I got married in October", "in October (meaning 2025-10)"),
        ("The report is due on the 15th", "on the 15th (meaning 2026-03-15)"),
        ("The report is due on the 5th", "on the 5th (meaning 2026-04-05)"),
        ("We met on 5 March", "5 March (meaning 2026-03-05)"),
        ("The party is on March 27th", "March 27th (meaning 2026-03-27)"),
        ("I will fly a week from Monday", "a week from Monday (meaning 2026-03-23)"),
        ("I will fly two weeks after Friday", "two weeks after Friday (meaning 2026-03-27)"),
        ("My exam is on Friday week", "on Friday week (meaning 2026-03-20)"),
        ("My exam is the Monday after next", "the Monday after next (meaning 2026-03-23)"),
        ("I see Ann the week after next", "the week after next (meaning 2026-03-23 to 2026-03-29)"),
        ("My lease ends the month after next", "the month after next (meaning 2026-05)"),
        ("My lease ends at the end of the month", "the end of the month (meaning 2026-03-31)"),
        ("The report is due by the end of next week", "the end of next week (meaning 2026-03-22)"),
        ("I leave at the end of February", "end of February (meaning 2027-02-28)"),
        ("My review is on Oct 3rd", "Oct 3rd (meaning 2026-10-03)"),
        ("My review is on 3 Dec.", "3 Dec. (meaning 2026-12-03)"),
        ("I moved on Jan. 5", "Jan. 5 (meaning 2026-01-05)"),
        ("My exam is in fifteen days", "in fifteen days (meaning 2026-03-25)"),
        ("I joined on February 29", "February 29 (meaning 2024-02-29)"),
    ],
)
def test_relative_dates_are_resolved(said: str, meaning: str) -> None:
    dated = annotate(said, TUESDAY)
    assert meaning in dated.text
    assert dated.found
    assert dated.text.count("(meaning") == 1


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("I have an interview next week on Friday", "next week on Friday (meaning 2026-03-20)"),
        ("I have an interview on Friday next week", "Friday next week (meaning 2026-03-20)"),
        ("I saw her Thursday of last week", "Thursday of last week (meaning 2026-03-05)"),
        ("I saw him two weeks ago on a Friday", "two weeks ago on a Friday (meaning 2026-02-27)"),
        ("The concert is next month on the 20th", "next month on the 20th (meaning 2026-04-20)"),
        ("I was there on the 3rd of last month", "on the 3rd of last month (meaning 2026-02-03)"),
        ("I'm moving next year in May", "next year in May (meaning 2027-05)"),
        ("We married in March last year", "in March last year (meaning 2025-03)"),
        ("We met two years ago in May", "two years ago in May (meaning 2024-05)"),
        ("The exam is on March 3rd of next year", "March 3rd of next year (meaning 2027-03-03)"),
        ("We met last year on 5 May", "last year on 5 May (meaning 2025-05-05)"),
        ("The wedding is on the second Saturday in June", "the second Saturday in June (meaning 2026-06-13)"),
        ("I ran it on the last Sunday in October", "the last Sunday in October (meaning 2025-10-26)"),
        ("The party is on the first Friday of next month", "the first Friday of next month (meaning 2026-04-03)"),
        ("I'm away until the end of the month after next", "the end of the month after next (meaning 2026-05-31)"),
        ("We go away on the weekend after next", "on the weekend after next (meaning 2026-03-28 to 2026-03-29)"),
        ("I flew home the Sunday before last", "the Sunday before last (meaning 2026-03-01)"),
        ("I flew home the week before last", "the week before last (meaning 2026-02-23 to 2026-03-01)"),
        ("I slept badly the night before last", "the night before last (meaning 2026-03-08)"),
        ("My exam is three weeks from tomorrow", "three weeks from tomorrow (meaning 2026-04-01)"),
    ],
)
def test_a_day_and_the_period_beside_it_are_one_date(said: str, meaning: str) -> None:
    dated = annotate(said, TUESDAY)
    assert meaning in dated.text
    assert dated.text.count("(meaning") == 1


@pytest.mark.parametrize(
    "said",
    [
        "Book club is on the last Thursday of every month",
        "Rent is due on the first Monday of the month",
        "The party is on the fifth Tuesday of next month",
        "She arrives the Monday after Easter",
        "The course begins the Friday before my birthday",
        "I bought it on Black Friday",
    ],
)
def test_a_weekday_that_counts_from_something_else_is_left_alone(said: str) -> None:
    assert annotate(said, TUESDAY).text == said


@pytest.mark.parametrize(
    "said",
    [
        "I run every Monday",
        "On Mondays I rest",
        "My birthday is on June 3",
        "I was born in May",
        "I finished it in two weeks",
        "I was there in March 2024",
        "We met on March 5, 2021",
        "the first time in two years",
        "I may go",
        "It feels like yesterday",
        "so much happened in the last month",
        "I met her last Friday (meaning 2026-03-06)",
        "Version 3 of march-hare is out",
        "I work from Monday to Friday",
        "I moved in a week after Monday",
        "I pay rent at the end of every month",
    ],
)
def test_recurring_dates_durations_and_full_dates_are_left_alone(said: str) -> None:
    assert annotate(said, TUESDAY).text == said


def test_two_dates_in_one_statement() -> None:
    assert annotate("I fly tomorrow and come back on Sunday", TUESDAY).text == (
        "I fly tomorrow (meaning 2026-03-11) and come back on Sunday (meaning 2026-03-15)"
    )


@pytest.mark.parametrize(
    ("today", "said", "meaning"),
    [
        (date(2026, 3, 14), "We go hiking this weekend", "2026-03-14 to 2026-03-15"),
        (date(2026, 3, 15), "We camped last weekend", "2026-03-07 to 2026-03-08"),
        (date(2026, 1, 31), "I start in one month", "about 2026-02"),
        (date(2026, 12, 31), "I leave tomorrow", "2027-01-01"),
        (date(2028, 2, 28), "I leave tomorrow", "2028-02-29"),
        (date(2026, 1, 20), "I skied last winter", "winter 2024/25"),
        (date(2026, 3, 16), "I saw him last Monday", "2026-03-09"),
    ],
)
def test_edges_of_the_calendar(today: date, said: str, meaning: str) -> None:
    assert f"(meaning {meaning})" in annotate(said, today).text


@pytest.mark.parametrize(
    ("today", "said"),
    [
        (date(9999, 12, 31), "I leave tomorrow"),
        (date(1, 1, 1), "I came yesterday"),
        (date(2026, 3, 10), "It is due on February 30"),
        (date(2026, 2, 10), "It is due on the 31st"),
    ],
)
def test_a_day_that_does_not_exist_is_left_alone(today: date, said: str) -> None:
    dated = annotate(said, today)
    assert dated.text == said
    assert not dated.found


@pytest.mark.parametrize("said", ["They moved the launch to May 4", "She postponed our review to June 2"])
def test_what_was_moved_lies_ahead(said: str) -> None:
    assert "(meaning 2026-0" in annotate(said, TUESDAY).text


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("Mom said the party is on Saturday", "2026-03-14"),
        ("I forgot that the exam is on Friday", "2026-03-13"),
        ("Kim told me the office is closed on Monday", "2026-03-16"),
        ("I found out my flight leaves on Sunday", "2026-03-15"),
        ("I told my boss I'm leaving in August", "2026-08"),
        ("I left my bag at work and I get it back on Friday", "2026-03-13"),
        ("I was invited to a wedding on Saturday", "2026-03-14"),
        ("The doctor gave me an appointment on Monday", "2026-03-16"),
    ],
)
def test_what_is_told_in_the_present_lies_ahead_whenever_it_was_heard(said: str, day: str) -> None:
    assert annotate(said, TUESDAY).text.endswith(f"(meaning {day})")


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("My son, who goes to nursery, fell on Monday", "2026-03-09"),
        ("I went to my brother's wedding on Saturday", "2026-03-07"),
        ("My dog who is 12 died on Friday", "2026-03-06"),
        ("They invited Tom and he came on Sunday", "2026-03-08"),
        ("I was ill from Friday to Sunday", "2026-03-06 to 2026-03-08"),
        ("I was ill from Saturday until Tuesday", "2026-03-07 to 2026-03-10"),
    ],
)
def test_what_happened_is_over_beside_what_holds_now(said: str, day: str) -> None:
    assert annotate(said, TUESDAY).text.endswith(f"(meaning {day})")


def test_from_one_day_to_another_is_one_span() -> None:
    assert (
        "from Friday to Sunday (meaning 2026-03-13 to 2026-03-15)"
        in annotate("I'm in Rome from Friday to Sunday", TUESDAY).text
    )
    assert annotate("The match was moved from Friday to Sunday", TUESDAY).text.endswith("Sunday (meaning 2026-03-15)")


def test_a_polite_past_asks_for_something_ahead() -> None:
    message = "I was wondering if you could help me plan a trip in May"
    assert annotate(message, TUESDAY).text == f"{message} (meaning 2026-05)"
