import numpy as np
import pytest

from reweigh.data.classes import class_names_of, encode
from reweigh.errors import DataError


def test_names_are_in_numerical_or_alphabetical_order():
    assert class_names_of(np.asarray(["10", "9", "-1"])) == ("-1", "9", "10")
    assert class_names_of(np.asarray(["dog", "10", "cat"])) == ("10", "cat", "dog")


def test_labels_are_names_or_numbers_and_names_win():
    assert encode(np.asarray(["dog", "cat"]), ("cat", "dog"), "f").tolist() == [1, 0]
    assert encode(np.asarray(["1", "0"]), ("cat", "dog"), "f").tolist() == [1, 0]
    assert encode(np.asarray(["1", "dog"]), ("cat", "dog"), "f").tolist() == [1, 1]
    assert encode(np.asarray(["1", "2"]), ("1", "2"), "f").tolist() == [0, 1]


def test_numbers_that_are_names_are_never_counted_from_zero():
    for names in (("1", "2", "3"), ("1.0", "2.0", "3.0"), ("1.0", "10.0", "2.0")):
        found = encode(np.asarray(["1", "2.0"]), names, "f")
        assert [float(names[c]) for c in found] == [1, 2]
        with pytest.raises(DataError, match="f: label '0' is not one of the 3 class names"):
            encode(np.asarray(["0", "1"]), names, "f")
    with pytest.raises(DataError, match="label '1' is not one of"):
        encode(np.asarray(["1"]), ("10", "cat"), "f")


def test_unknown_label_offers_the_nearest():
    with pytest.raises(DataError, match=r"f: label 'dgo' is neither .* did you mean 'dog'\?"):
        encode(np.asarray(["dgo"]), ("cat", "dog"), "f")
    with pytest.raises(DataError, match=r"label '2' is neither .* number in 0\.\.1"):
        encode(np.asarray(["2"]), ("cat", "dog"), "f")
