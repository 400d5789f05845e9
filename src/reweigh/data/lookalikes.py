"""Texts that people take for numbers or dates and the reader does not: 1,234.50, 12%, € 12, 17.03.2023."""

import re
from typing import Literal

from reweigh.data.classes import value_of

_CURRENCY = r"(€|\$|£|¥|EUR|USD|GBP|CHF)?"
_DIGITS = r"(\d{1,3}([.,'’\s]\d{3})+|\d+)([.,]\d+)?"
_NUMBER = re.compile(rf"{_CURRENCY}\s*[+-]?{_DIGITS}\s*(%|{_CURRENCY})")
_TIME = r"([T ]\d{1,2}:\d\d.*)?"
_DATE = re.compile(
    rf"(\d{{1,2}}([./-])\d{{1,2}}\2(\d{{4}}|\d\d)|\d{{4}}([./-])\d{{1,2}}\4\d{{1,2}}){_TIME}"
)


def likeness(text: str) -> Literal["number", "date"] | None:
    """What somebody would take the text for."""
    if value_of(text) is not None or _NUMBER.fullmatch(text):
        return "number"
    return "date" if _DATE.fullmatch(text) else None


WAYS_OUT = {
    "number": "write 1234.5, with a point and without thousands separators, % or currency",
    "date": "write 2023-03-17 or 2023-03-17T12:30:00",
    None: "leave such cells empty",
}
"""How a text has to look to be read as what it is meant to be."""
