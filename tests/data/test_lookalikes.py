import pytest

from reweigh.data.lookalikes import likeness

NUMBERS = ["12", "-1.5e3", "1,234.50", "1.234,50", "1 234", "1'234.5", "12%", "12,5 %", "€ 12", "12 €",
           "$1,000", "-3,5", "CHF 10"]  # fmt: skip
DATES = [
    "17.03.2023",
    "03/03/2023",
    "3/3/23",
    "2023/03/17",
    "17.03.2023 12:30",
    "2023-03-17T12:30:00Z",
]
NEITHER = ["", "ten", "1.2.3", "12-15", "1,2,3", "A12", "12 kg", "10.0.0.1", "1/2", "12:30", "nan"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((t, "number") for t in NUMBERS),
        *((t, "date") for t in DATES),
        *((t, None) for t in NEITHER),
    ],
)
def test_what_people_take_texts_for(text, kind):
    assert likeness(text) == kind
