"""Relative dates against a Tuesday, 2026-03-10."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    ],
)
def test_a_day_and_the_period_beside_it_are_one_date(said: str, meaning: str) -> None:
    dated = annotate(said, TUESDAY)
    assert meaning in dated.text
    assert dated.text.count("(meaning") == 1


@pytest.mark.parametrize(
    "said",
    [
        "I will fly a week from Monday",
        "I will fly two weeks after Friday",
        "My exam is on Friday week",
        "My exam is the Monday after next",
        "I see Ann the week after next",
        "My lease ends the month after next",
        "I saw him two weeks ago on a Friday",
        "The concert is next month on the 20th",
        "I was there on the 3rd of last month",
        "I'm moving next year in May",
        "We married in March last year",
        "We met two years ago in May",
        "The exam is on March 3rd of next year",
        "We met last year on 5 May",
        "The wedding is on the second Saturday in June",
        "I ran it on the last Sunday in October",
        "The party is on the first Friday of next month",
        "I'm away until the end of the month after next",
        "We go away on the weekend after next",
        "I flew home the Sunday before last",
        "I flew home the week before last",
        "I slept badly the night before last",
        "My exam is three weeks from tomorrow",
        "I was ill from Friday to Sunday",
        "I was ill from Saturday until Tuesday",
        "I'm away from the 10th to the 20th",
        "The fair is between the 2nd and 6th",
        "I was in Oslo between the 2nd and the 6th",
        "I booked a hotel from Monday to Thursday",
        "I signed up for a course from January to March",
        "I was on leave from November to February",
        "Book club is on the last Thursday of every month",
        "Rent is due on the first Monday of the month",
        "The party is on the fifth Tuesday of next month",
        "She arrives the Monday after Easter",
        "The course begins the Friday before my birthday",
        "I bought it on Black Friday",
    ],
)
def test_what_counts_from_something_else_is_left_alone(said: str) -> None:
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
    ],
)
def test_what_happened_is_over_beside_what_holds_now(said: str, day: str) -> None:
    assert annotate(said, TUESDAY).text.endswith(f"(meaning {day})")


def test_a_polite_past_asks_for_something_ahead() -> None:
    message = "I was wondering if you could help me plan a trip in May"
    assert annotate(message, TUESDAY).text == f"{message} (meaning 2026-05)"


WEDNESDAY = date(2026, 11, 18)


@pytest.mark.parametrize(
    ("said", "meanings"),
    [
        # behind a past verb, still to come
        ("I signed the lease, moving on the 10th of January", "2027-01-10"),
        ("I signed the lease on the 10th of November and move in on the 10th of January", "2026-11-10 2027-01-10"),
        ("moved on the 2nd, the housewarming is on the 14th", "2026-11-02 2026-12-14"),
        ("I got the visa, flying out on March 2", "2027-03-02"),
        ("I got the job and start on the 4th of January", "2027-01-04"),
        ("I got engaged, the wedding is on the 5th of June", "2027-06-05"),
        ("I ordered a sofa, delivery on December 4", "2026-12-04"),
        ("I sold the car, the buyer picks it up on Friday", "2026-11-20"),
        ("My parents came on the 3rd and leave on the 22nd", "2026-11-03 2026-11-22"),
        ("I bought tickets for the concert on February 5", "2027-02-05"),
        ("I paid the deposit for the 22nd", "2026-11-22"),
        ("I signed the lease in March, moving in in May", "2026-03 2027-05"),
        # in front of a verb of the future, over
        ("I'll move in January, signed the lease on the 3rd", "2027-01 2026-11-03"),
        ("I signed on the 3rd and will move in May", "2026-11-03 2027-05"),
        # over
        ("I started on the 3rd", "2026-11-03"),
        ("I sent the form, the deadline was on the 3rd", "2026-11-03"),
        ("My parents came on the 3rd and left on the 12th", "2026-11-03 2026-11-12"),
        ("my exam is on the 5th", "2026-12-05"),
        # both ends of a range
        ("We booked the flat from the 3rd to the 12th of March", "2027-03-03 to 2027-03-12"),
        ("We booked the flat from March 3 to 12", "2027-03-03 to 2027-03-12"),
        ("We booked the flat March 3-12", "2027-03-03 to 2027-03-12"),
        ("We booked the flat from 3 to 12 March", "2027-03-03 to 2027-03-12"),
        ("We booked a hut, Dec 28 to Jan 3", "2026-12-28 to 2027-01-03"),
        ("We booked a hut from the 28th of December till the 3rd of January", "2026-12-28 to 2027-01-03"),
        ("We stayed there from Dec 28 to Jan 3", "2025-12-28 to 2026-01-03"),
        ("We were in Rome from March 3 through March 12", "2026-03-03 to 2026-03-12"),
        # moved from one day to another is no range
    ],
)
def test_each_day_goes_by_the_clause_that_it_stands_in(said: str, meanings: str) -> None:
    found = re.findall(r"\(meaning ([^)]*)\)", annotate(said, WEDNESDAY).text)
    assert " ".join(found) == meanings


@pytest.mark.parametrize(
    "said",
    [
        "I work from 9 to 5",
        "Prices went from 3 to 12 euros",
        "We won 3 to 2",
        "I lived in Paris from March 3 2010 to May 5 2012",
        "I've been here for the 3rd time",
        "Feb 29 to March 3 we ski",
        "No meetings on Friday afternoons",
    ],
)
def test_what_is_no_range_of_days_is_left_alone(said: str) -> None:
    assert annotate(said, WEDNESDAY).text == said


MONTHS = ("January", "March", "May", "August", "October", "December")


@given(
    st.dates(date(2020, 1, 1), date(2090, 1, 1)),
    st.tuples(st.integers(1, 28), st.sampled_from(MONTHS)),
    st.tuples(st.integers(1, 28), st.sampled_from(MONTHS)),
    st.booleans(),
)
def test_a_range_ends_on_the_side_of_today_that_its_verb_says(
    today: date, first: tuple[int, str], last: tuple[int, str], past: bool
) -> None:
    said = f"We {'stayed' if past else 'will stay'} there from {first[1]} {first[0]} to {last[1]} {last[0]}"
    [meaning] = re.findall(r"\(meaning ([^)]*)\)", annotate(said, today).text)
    start, end = map(date.fromisoformat, meaning.split(" to "))
    assert (start.day, start.strftime("%B")) == first
    assert (end.day, end.strftime("%B")) == last
    assert start <= end <= start.replace(year=start.year + 1)
    assert end <= today if past else end >= today
