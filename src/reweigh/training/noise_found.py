"""How well the weights of a run tell planted noise from what is right."""

import numpy as np
from sklearn.metrics import roc_auc_score
from torch import Tensor

from reweigh.training.weight_store import WeightStore

_ROUNDING = 1e-5
"""Weights are kept times the batch's size, in float32."""


def noise_auroc(store: WeightStore | None, right: Tensor | None, n: int) -> float | None:
    """Probability that a right sample outweighs a wrong one, of those that the last epoch showed.

    Trusted samples that were mixed in stand behind the first n and are no achievement. None where
    all weights are alike: who does not choose does not choose by chance.
    """
    if store is None or right is None:
        return None
    truth, weights = right.cpu().numpy()[:n], np.asarray(store.epoch(store.epochs()[-1]))[:n]
    seen = ~np.isnan(weights)
    truth, weights = truth[seen], weights[seen]
    if truth.all() or not truth.any() or np.ptp(weights) <= _ROUNDING * np.abs(weights).max():
        return None
    return float(roc_auc_score(truth, weights))
