"""scikit-learn's 569 tumours, benign or malignant: a table of 30 measurements."""

from pathlib import Path
from typing import Any

import numpy as np

from reweigh.data.columns import Columns
from reweigh.data.readers.tables import source_of
from reweigh.data.samples import Source


def read() -> Source:
    """One row a tumour; a fifth of either class is the test set."""
    return source_of(columns())


def columns() -> Columns:
    """The measurements as scikit-learn names them, and `label`."""
    from sklearn.datasets import load_breast_cancer

    found: Any = load_breast_cancer()
    values = dict(zip(map(str, found["feature_names"]), np.asarray(found["data"]).T, strict=True))
    values["label"] = np.asarray(found["target_names"])[found["target"]]
    return Columns(values, Path("breast-cancer"))
