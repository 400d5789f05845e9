from pathlib import Path

import pytest
import torch

from reweigh.training.noise_found import noise_auroc
from reweigh.training.weight_store import WeightStore


def test_auroc_is_known_where_weights_are(tmp_path: Path) -> None:
    """Of 3 right and 2 wrong labels, 5 of 6 pairs are in order; NaN is nobody's weight."""
    store = WeightStore(tmp_path, 6)
    store.begin(0)
    store.put(torch.arange(5), torch.tensor([0.9, 0.8, 0.3, 0.5, 0.1]))
    store.end()
    right = torch.tensor([True, True, True, False, False, False])
    assert _auroc(store, right) == pytest.approx(5 / 6)
    assert _auroc(store, torch.ones(6, dtype=torch.bool)) is None
    assert _auroc(store, None) is None
    assert _auroc(None, right) is None


def test_weights_that_are_all_alike_find_nothing(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, 6)
    store.begin(0)
    n = 109  # a batch's size at which 1/n · n is not 1
    store.put(torch.arange(3), torch.ones(3))
    store.put(torch.arange(3, 6), torch.ones(3) / n * n)
    assert float(torch.ones(()) / n * n) != 1
    store.end()
    assert _auroc(store, torch.tensor([True, True, True, False, False, False])) is None


def _auroc(store, right):
    return noise_auroc(store, right, 6)
