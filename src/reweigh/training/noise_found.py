"""How well the weights of a run tell planted noise from what is right."""

import numpy as np
from sklearn.metrics import roc_auc_score
from torch import Tensor

from reweigh.training.weight_store import WeightStore


def noise_auroc(store: WeightStore | None, right: Tensor | None, n: int) -> float | None:
    """Probability that a right sample outweighs a wrong one in the last epoch, of the first n:
    trusted samples that were mixed in stand behind them and are no achievement.
    """
    if store is None or right is None:
        return None
    truth, weights = right.cpu().numpy()[:n], np.asarray(store.epoch(store.epochs()[-1]))[:n]
    seen = ~np.isnan(weights)
    if truth[seen].all() or not truth[seen].any():
        return None
    return float(roc_auc_score(truth[seen], weights[seen]))
