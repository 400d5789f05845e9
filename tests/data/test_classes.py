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
    assert encode(np.asarray(["1", "0"]), ("1", "2"), "f").tolist() == [1, 0]


def test_unknown_label_offers_the_nearest():
    with pytest.raises(DataError, match=r"f: label 'dgo' is neither .* did you mean 'dog'\?"):
        encode(np.asarray(["dgo"]), ("cat", "dog"), "f")
    with pytest.raises(DataError, match=r"label '2' is neither .* number in 0\.\.1"):
        encode(np.asarray(["2"]), ("cat", "dog"), "f")
