"""Days, periods, times and lengths of time, said in one way and in another. Today is Friday, 1 March 2019."""

from datetime import date
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values import Comparison, ValueContext, compare_values
from aem_monitor.scoring.values.words import listed

TODAY: Final = ValueContext(reference_date=date(2019, 3, 1))
SCORER: Final = EmbeddedScorer()

SAME_DATES: Final = """
in two weeks = 2019-03-15
in a fortnight = 2019-03-15
a fortnight from now = in two weeks
two weeks from today = March 15
two weeks from tomorrow = 2019-03-16
a week from monday = 2019-03-11
a week on monday = 2019-03-11
monday week = 2019-03-11
in a couple of days = in two days
first monday of march 2019 = 2019-03-04
the first monday in march = March 4
last friday of june 2019 = 2019-06-28
third thursday of november 2019 = 2019-11-21
the second tuesday of next month = 2019-04-09
the 3rd of next month = 2019-04-03
15th of next month = April 15
the first of the month = the 1st of this month
last day of march = March 31
last day of the month = 2019-03-31
end of the month = eom
thanksgiving 2019 = 2019-11-28
easter 2019 = April 21, 2019
easter sunday 2019 = 2019-04-21
good friday 2019 = 2019-04-19
memorial day 2019 = 2019-05-27
labor day 2019 = 2019-09-02
4th of july = July 4
independence day = 4th of july
mother's day 2019 = 2019-05-12
new year's day 2020 = 2020-01-01
christmas 2019 = 2019-12-25
black friday 2019 = 2019-11-29
boxing day = 26 december
the 90s = 1990s
the nineties = the 1990s
the 21st century = 2001-2100
summer 2019 = summer of 2019
summer of 2019 = 2019 summer
this summer = summer 2019
next summer = summer 2020
early march = beginning of march
mid-march = middle of march
late march = end of march
start of 2020 = beginning of 2020
june 5-7 = from june 5 to june 7
june 5-7 = 5 - 7 June
june 5th to 7th = 5th to 7th of june
between june 5 and june 7 = from 5 june till 7 june
from june 5 through june 7, 2019 = 2019-06-05 to 2019-06-07
june 1 to june 30 = from 1 june until 30 june
after march 5 = later than march 5
on or after march 5 = march 5 or later
from march 5 on = march 5 onwards
since 2016 = from 2016 on
before march 5 = prior to march 5
by march 5 = no later than march 5
until march 5 = till march 5
on or before march 5 = not after march 5
tomorrow at 7 am = 7am tomorrow
tomorrow morning = in the morning tomorrow
saturday at noon = 12pm on saturday
2019-03-02T07:00 = 7 am tomorrow
twenty nineteen = 2019
nineteen ninety-nine = 1999
two thousand and eighteen = 2018
in the year 2019 = 2019
march twenty nineteen = march 2019
tmrw = tomorrow
tmr = tomorrow
next week wednesday = wednesday of next week
next week maybe, on wednesday = wednesday next week
three business days from now = 2019-03-06
in 3 working days = in three business days
every monday = mondays
every day = daily
each week = weekly
once a month = monthly
every other week = biweekly
every two weeks = every other week
every weekday = weekdays
friday next week = 2019-03-08
the week after next = 2019-03-11 to 2019-03-17
the week of march 4th = march 4 - march 10
week 12 of 2019 = 2019-W12
year to date = ytd
the rest of the week = rest of this week
rest of the month = remainder of the month
the day after christmas = december 26
the day before thanksgiving 2019 = 2019-11-27
2 days before christmas = december 23
next 3 days = the next three days
past two weeks = last 2 weeks
the following month = next month
Mar 5 '19 = 2019-03-05
20190305 = March 5th, 2019
03/25 = 25 march
March 5th 2019 (Tuesday) = Tuesday, 5 March 2019
2019-03-05T00:00:00Z = March 5 2019
monday the 4th = 2019-03-04
q1 2019 = first quarter of 2019
FY2019 = fiscal year 2019
fy19 = fiscal 2019
h1 2019 = first half of 2019
the first week of april = first week in april
now = right now
asap = as soon as possible
tonight = this evening
the day after tomorrow = in two days
day before yesterday = two days ago
a year ago = one year ago
a month from now = in a month
this coming sunday = this sunday
9/11/2001 = September 11, 2001
2 to 4 march = march 2nd - 4th
within 3 days = in the next 3 days
today or tomorrow = tomorrow or today
the second half of 2019 = h2 2019
weekend = the weekend
this weekend = 2019-03-02 to 2019-03-03
1st of May = May 1st
end of today = eod
end of tomorrow = tomorrow eod
end of day tomorrow = end of tomorrow
end of the day = end of today
2016, Nov 15th = November 15 2016
the 21st century = 21st century
next 24 hours = within 24 hours
in 5 hours = five hours from now
an hour ago = one hour ago
june 5 2019 at noon = 12:00 on 5 june 2019
4/1/2019 - 4/5/2019 = april 1st 2019 to april 5th 2019
last 30 days = past 30 days
the last week of march = last week in march
the entire month of may = may
month of may = may
next month = april 2019
this quarter = Q1 2019
last year = 2018
yesterday = 2019-02-28
the year before last = 2017
two years from now = 2021-03-01
fourth quarter 2018 = Q4 2018
second half of 2018 = July 2018 to December 2018
sunday the 3rd of march = 2019-03-03
the following friday = next friday
a fortnight ago = two weeks ago
more than two weeks ago = earlier than 2 weeks ago
5 or more days ago = at least 5 days ago
older than 2 months = more than 2 months
prior week = last week
jan-mar = january to march
02/2019 = february 2019
as of today = starting today
over the weekend = the weekend
last decade = the past decade
past few days = last three days
jan - mar 2018 = from january to march 2018
"""
OTHER_DATES: Final = """
early march = late march
first monday of march = second monday of march
march 5 = march 15
after march 5 = before march 5
since 2016 = until 2016
june 5-7 = june 5-8
june 5-7 = june 5
from june 5 to june 7 = june 7
every monday = monday
every monday = every tuesday
weekly = daily
summer 2019 = summer 2018
summer = winter
thanksgiving = christmas
the 90s = the 80s
week 12 = week 13
tomorrow at 7 am = tomorrow at 7 pm
tomorrow at 7 am = 7 am today
in two weeks = in two days
next 3 days = last 3 days
fy19 = fy20
2019 = twenty eighteen
within 3 days = for 4 days
monday week = monday
beginning of 2019 = end of 2019
easter 2019 = good friday 2019
three business days from now = three days from now
last friday of june = first friday of june
between 5 and 6 march = between 5 and 7 march
26 june 2019 to 28 june 2020 = 26 june to 28 june 2020
march 2019 = march 2018
2019-03-02 to 2019-03-03 = 2019-03-02 to 2019-03-04
end of today = end of tomorrow
last 30 days = next 30 days
monday or tuesday = monday and tuesday
more than two weeks ago = less than two weeks ago
"""
SAME_TIMES: Final = """
5-6 pm = between 5 and 6 in the afternoon
5 to 6pm = 5-6 pm
9-5 = 9 to 5
9am-5pm = from 9 to 17:00
9:00-17:00 = 9 am to 5 pm
from 9 for 2.5 hrs = for 2.5 hours from 9
late afternoon = later in the afternoon
early in the morning = early morning
at lunch = lunchtime
after dinner = after dinnertime
after 6pm = later than 6 pm
any time from 7:00 am = as early as 7:00 am
7 am or later = from 7 am on
before noon = earlier than 12pm
by 5 pm = no later than 5 pm
until midnight = till 12 am
11am to 2pm = 11 to 2 pm
around 5 pm = about 5 pm
quarter to six = 5:45
ten to six = 5:50
half past seven = 7:30
end of the day = eod
close of business = cob
5 pm sharp = 5 pm
noon = 12:00
8 o'clock in the evening = 20:00
0800 = 8:00 am
8h30 = 8:30
5 in the evening = 17:00
between 5 and 6 pm = 5 pm - 6 pm
"""
OTHER_TIMES: Final = """
5-6 pm = 5-7 pm
5 to 6pm = 5:55 pm
before 5 pm = after 5 pm
by 5 pm = 5 pm
early morning = late morning
after dinner = before dinner
lunch = dinner
9 to 5 = 9 to 6
7 am = 7 pm
from 7 am = until 7 am
morning = afternoon
"""
SAME_LENGTHS: Final = """
half an hour = 30 minutes
half hour = 30 min
an hour and a half = 90 minutes
one and a half hours = 1.5 hours
a year and a half = 18 months
two and a half days = 60 hours
couple of hours = 2 hours
3-day = three days
two-week = 2 weeks
half a year = 6 months
quarter of an hour = 15 minutes
quarter hour = 15 min
three quarters of an hour = 45 minutes
2hrs 30mins = 150 minutes
1 h 30 m = 90 minutes
a decade = ten years
half a decade = 5 years
half-day = 12 hours
5 yr = five years
1 year and 3 months = 15 months
3 hrs = 3 hours
2d = 48 hours
PT2H = two hours
P3D = 3 days
one hour, 20 minutes = 80 minutes
ten seconds = 10s
500 ms = half a second
a few days = few days
a full year = one year
all week = the whole week
12 months = a year
five-minute = 5 min
six and a half years = 6.5 years
2 and a half hours = 150 minutes
several days = several days
3 business days = three working days
at least 2 days = two days or more
more than an hour = over 1 hour
2 weeks and 3 days = 17 days
an hour = 60 mins
21 hour = 21 hours
1,000 hours = 1000 h
"""
OTHER_LENGTHS: Final = """
two hours = two minutes
half an hour = an hour
1.5 hours = 15 hours
3 business days = 3 days
a year = a month
at least 2 days = at most 2 days
2 weeks = 2 days
90 minutes = 19 minutes
"""

NUMBERS: Final = """
more than 5 = over 5
at least 3 = 3 or more
up to $50 = at most 50 dollars
between 5 and 10 = 5 to 10
second = 2nd
a hundred and two thirds = 100 2/3
2 and a half = 2.5
1.1^2 = 1.21
30 dirham = AED 30
ten pence = 0.10 GBP
"""
OTHER_NUMBERS: Final = """
1.5 = 15
7:30 = 730
at least 3 = at most 3
more than 5 = 5
10 pence = 10 pounds
"""


def pairs(*lists: tuple[str, str]) -> list[tuple[str, str, str]]:
    found = []
    for kind, text in lists:
        for line in text.strip().splitlines():
            one, _, other = line.partition(" = ")
            found.append((kind, one, other))
    return found


def compare(kind: str, one: str, other: str) -> Comparison:
    return compare_values(one, other, TODAY, SCORER, kind)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    pairs(("date", SAME_DATES), ("time", SAME_TIMES), ("duration", SAME_LENGTHS), ("number", NUMBERS)),
)
def test_other_words_say_the_same(kind: str, one: str, other: str) -> None:
    assert compare(kind, one, other).equivalent
    assert compare(kind, other, one).equivalent


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    pairs(("date", OTHER_DATES), ("time", OTHER_TIMES), ("duration", OTHER_LENGTHS), ("number", OTHER_NUMBERS)),
)
def test_a_different_value_in_like_words_differs(kind: str, one: str, other: str) -> None:
    assert not compare(kind, one, other).equivalent
    assert not compare(kind, other, one).equivalent


WORDS: Final = listed(
    """the of to from until before after and or next last first fifth 31 29 99 2/30 9999 1500 february monday sunday
    week fortnight month year century days ago business quarter easter thanksgiving 90s spring week 53 2019-w99 eom end
    rest half 999 500 years -5 10^99 9999-12-31 0001-01-01 25:00 0800 5-6 pm noon tonight every twenty nineteen million
    , ; ?"""
)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=7),
    st.lists(st.sampled_from(WORDS), max_size=7),
    st.sampled_from([date(1, 1, 1), date(2020, 2, 29), date(9999, 12, 31), None]),
    st.sampled_from([None, "date", "time", "duration", "number", "entity"]),
)
def test_any_words_under_any_date_compare_and_both_ways_alike(
    one: list[str], other: list[str], reference: date | None, kind: str | None
) -> None:
    context = ValueContext(reference_date=reference)
    a, b = " ".join(one), " ".join(other)
    here, there = compare_values(a, b, context, SCORER, kind), compare_values(b, a, context, SCORER, kind)
    assert (here.equivalent, here.score) == (there.equivalent, there.score)


def test_a_comma_is_a_value_like_any_other() -> None:
    assert not compare("entity", ",", "2019").equivalent
