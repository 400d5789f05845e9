import pytest

from reweigh.data.typos import MOST_CLASSES, one_class_perhaps


def told(**counts):
    return list(one_class_perhaps(tuple(counts), tuple(counts.values())))


def test_case_blanks_and_equal_numbers():
    assert told(ja=400, Ja=300, JA=2, nein=500) == [
        "'ja', 'Ja' and 'JA' differ only in case or blanks"
    ]
    assert told(**{"1": 50, "1.0": 60, "2": 50}) == ["'1' and '1.0' are one number"]
    assert told(**{"a  b": 50, "A b": 50}) == ["'a  b' and 'A b' differ only in case or blanks"]


def test_rare_names_that_resemble_frequent_ones():
    assert told(nein=500, NIEN=3, ja=400) == ["'NIEN' (3 samples) resembles 'nein'"]
    assert told(nein=5000, nien=50, ja=4000) == ["'nien' (50 samples) resembles 'nein'"]
    assert told(nein=5000, nien=120, ja=4000) == []  # not rare
    assert told(nein=40, nien=9, ja=40) == []  # nein is no ten times as frequent


@pytest.mark.parametrize("names", [("class1", "class2"), ("10", "100"), ("cat", "dog")])
def test_numbered_and_different_names_are_nobodys_typos(names):
    assert told(**dict(zip(names, (500, 3), strict=True))) == []


def test_many_classes_are_not_compared():
    many = {f"{chr(97 + i % 26)}{chr(97 + i // 26)}xyz": 100 for i in range(MOST_CLASSES)}
    assert told(**many | {"aaxyy": 3}) == []
