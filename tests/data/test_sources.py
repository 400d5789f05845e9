import subprocess
import sys

import pytest

from reweigh import data
from reweigh.data.sources import load
from reweigh.errors import UsageError


def test_unknown_names_get_the_nearest():
    with pytest.raises(UsageError, match=r"did you mean cifar10 or cifar100\?"):
        load("cifar-10")
    with pytest.raises(UsageError, match="known are digits, breast-cancer, mnist5k"):
        load("/nowhere/x.json")
    with pytest.raises(UsageError, match="image_size is 0"):
        load("digits", image_size=0)


def test_text_is_for_another_task():
    with pytest.raises(UsageError, match='set task = "translation"'):
        load("iwslt14")


def test_every_name_has_a_reader_and_a_line():
    images = {"digits", "mnist5k", "fashion-mnist", "cifar10", "cifar100"}
    assert set(data.names()) == images | {"breast-cancer", "multi30k", "iwslt14"}
    assert all(len(line) > 20 for line in data.names().values())


def test_listing_the_names_loads_neither_numpy_nor_torch():
    code = "import sys, reweigh.data as d; d.names(); print({'numpy', 'torch'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


def test_the_table_inside_scikit_learn():
    found = load("breast-cancer")
    assert (len(found.train), len(found.test), found.kind) == (456, 113, "table")
    assert found.class_names == ("benign", "malignant")
    assert found.encoding is not None
    assert found.encoding.names.startswith("mean radius, mean texture")
    assert abs(found.train.inputs.mean()) < 1e-4  # standardised by the training rows
