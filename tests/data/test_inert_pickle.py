import pickle

import numpy as np
import pytest

from reweigh.data.inert_pickle import read_pickle
from reweigh.errors import DataError

from .files import python2_pickle, rows


def test_an_official_file_reads_as_it_would_unpickle():
    content = {"labels": [3, 1, 300], "data": rows([0, 1], 5), "names": ["a", "b"]}
    data = python2_pickle(content)
    found = read_pickle(data, "f")
    expected = pickle.loads(data, encoding="latin-1")
    assert found["labels"] == expected["labels"] == [3, 1, 300]
    assert found["names"] == ["a", "b"]
    np.testing.assert_array_equal(found["data"], expected["data"])
    assert found["data"].dtype == np.uint8


class Hostile:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(6))
def test_hostile_pickles_are_refused_and_never_run(tmp_path, protocol):
    canary = tmp_path / "canary"
    for evil in (
        Hostile(__import__("os").system, f"touch {canary}"),
        Hostile(eval, f"open({str(canary)!r}, 'w')"),
        Hostile(open, str(canary), "w"),
        {"data": Hostile(canary.touch)},
    ):
        with pytest.raises(DataError, match="nothing of it was executed"):
            read_pickle(pickle.dumps(evil, protocol), "f")
    assert not canary.exists()


def test_a_call_hidden_behind_a_known_name_is_not_made(tmp_path):
    canary = tmp_path / "canary"
    data = b"\x80\x02cos\nsystem\nU\x10" + f"touch {canary}".encode()[:16] + b"\x85R."
    with pytest.raises(DataError, match="asks for GLOBAL 'os system'"):
        read_pickle(data, "f")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b"\x80\x02.",
        b"\x80\x02K\x01.",
        b"\x80\x02}q\x01u.",
        b"\x80\x02q\x01.",
        python2_pickle({"data": rows([0])})[:-40],
        python2_pickle({"data": rows([0])}).replace(b"M\x00\x0c", b"M\x01\x0c"),
        pickle.dumps(np.arange(3), 2),
    ],
)
def test_damage_gets_one_sentence(data):
    with pytest.raises(DataError, match="is not an official CIFAR file"):
        read_pickle(data, "f")
