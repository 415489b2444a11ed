"""Numbers of two questions: when one stands in place of another."""

from __future__ import annotations

import pytest

from demur.asking.meaning.numbers import differ, reordered, without_numbers, written
from demur.asking.meaning.opposites import opposed, turned, without_opposites


def differing(one: str, other: str) -> bool:
    return differ(written(one), written(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from 1,000 euros", "from 1.000 euros"),
        ("from 1000 euros", "from 1 000 euros"),
        ("1.000,00 euros", "1,000.00 euros"),
        ("1,00,000 rupees", "100000 rupees"),
        ("at 10.30 am", "at 10:30 am"),
        ("at 10:30 pm", "at 22:30"),
        ("at 9", "at 9 pm"),
        ("at 12 am", "at 0:00"),
        ("um 10 Uhr 30", "um 10h30"),
        ("at 9", "at 09:00"),
        ("1.5 m", "1,5 m"),
        ("USB 3.0", "USB 3"),
        ("$5.00", "$5"),
        ("room ١٢", "room 12"),
        ("Covid-19", "covid 2019"),
        ("on 24/12/2024", "on 24.12.2024"),
        ("on 2024-12-24", "on 24.12.2024"),
        ("on 24.12.", "on 24.12.2024"),
        ("on 24.12.23", "on 24.12.2023"),
        ("1. Is it free?", "2. Is it free?"),
        ("two hundred users", "200 users"),
        ("twenty-five users", "25 users"),
        ("the third floor", "the 3rd floor"),
        ("is 030 123 45 67 yours", "is 0301234567 yours"),
        ("is +49 30 1234567 yours", "is 030 123 4567 yours"),
        ("the iPhone 13 128 GB", "the iPhone 13"),
        ("3. What is new in 2.1?", "what is new in 2.1?"),
        ("my order 12345", "my order"),
        ("what is in 2.1", "what is in 2.1 and 2.2"),
    ],
)
def test_one_number(one: str, other: str) -> None:
    assert not differing(one, other) and not differing(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.10", "1.1"),
        ("1.2", "2.1"),
        ("in 2019", "in 1919"),
        ("error 2013", "error 13"),
        ("at 10:30", "at 10:03"),
        ("at 9 am", "at 9 pm"),
        ("at -40 degrees", "at 40 degrees"),
        ("at -€20", "at €20"),
        ("110", "1.10"),
        ("the server 10.11.1.1", "the server 10.1.11.1"),
        ("from 11.1.2024 to 2.11.2024", "from 1.11.2024 to 2.11.2024"),
        ("the 4th floor", "the third floor"),
        ("three tablets", "2 tablets"),
        ("the 1.5 litre bottle", "the 1 litre bottle"),
        ("500: what is this error?", "404: what is this error?"),
        ("is 030 1234567 yours", "is 030 1234568 yours"),
    ],
)
def test_two_numbers(one: str, other: str) -> None:
    assert differing(one, other) and differing(other, one)


@pytest.mark.parametrize(
    ("finer", "row"),
    [
        ("on my iOS 17.4", "on my iOS 17"),
        ("with Python 3.11.4", "with Python 3.11"),
        ("in version 4.2.1", "in version 4.2"),
        ("by ISO 9001:2015", "by ISO-9001"),
    ],
)
def test_a_finer_version_is_what_the_row_is_about_and_a_coarser_one_is_not(finer: str, row: str) -> None:
    assert not differing(finer, row) and differing(row, finer)


def test_another_version_of_one_that_ends_in_zero_is_not_finer() -> None:
    assert differing("on my iOS 17.4", "on my iOS 17.0")


def test_the_order_of_numbers() -> None:
    one, other = written("from 4.2 to 5.0"), written("from 5.0 to 4.2")
    assert reordered(one, other) and not reordered(one, one) and not differ(one, other)
    assert not reordered(one, written("from 4.2 to 6")) and not reordered("none", "none")


def test_what_is_left_without_numbers() -> None:
    assert (
        without_numbers(written("Is the 3rd room open at 9 p.m., or at -5?"))
        == "Is the room open at , or at ?"
    )


@pytest.mark.parametrize(
    ("one", "other", "way"),
    [
        ("How do I convert a PDF to Word?", "convert Word to PDF", True),
        ("from the airport to the town", "from town to the airport", True),
        ("turn my photos into a film", "turn a film into photos", True),
        ("Word to PDF, or PDF to Word?", "PDF to Word?", False),
        ("What have I to pay to you?", "What do I have to pay you?", False),
    ],
)
def test_the_other_way_round(one: str, other: str, way: bool) -> None:
    assert turned(one, other) == turned(other, one) == way


@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        ("check in", "check-out", True),
        ("Log IN", "log out", True),
        ("before or after lunch", "after lunch", False),
        ("in winter", "in summer", False),
        ("a different to yours", "a different from yours", False),
        ("filling it in", "filling it out", False),
        ("the first bus", "the last bus", True),
        ("an inn", "an outing", False),
    ],
)
def test_opposites(one: str, other: str, against: bool) -> None:
    assert opposed(one, other) == opposed(other, one) == against
    assert without_opposites("Check in, or out") == "Check , or"
