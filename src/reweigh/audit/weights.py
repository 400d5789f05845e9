"""The weights that a run's teacher gave its samples in the last epochs, read from the run's folder."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from reweigh.config import Settings
from reweigh.config.methods import OwnConfig
from reweigh.methods import AnyProblem, method_for
from reweigh.run_files import kept_samples
from reweigh.training.weight_store import WeightStore

LAST_EPOCHS = 5
"""Early weights come from a teacher that has not learned yet; a single epoch is noisy."""
MOST_UNSEEN = 0.02
"""Share of samples without a weight that is not worth a word."""


def weights_of(folder: Path, config: Settings, problem: AnyProblem) -> NDArray[np.float32] | None:
    """The last epochs' weights (epochs, n); None where nobody weighed these samples.

    A method may train on more than the doubtful samples: those come first. What one of the user's own
    trained on is read from the folder: its code need not be here.
    """
    if not (folder / "weights").is_dir():
        return None
    n = len(problem.train)
    if not isinstance(config.method, OwnConfig):
        size = len(method_for(config.method).problem(problem).train)
        return last_weights(WeightStore(folder / "weights", size), n)
    kept = kept_samples(folder, "ids", "trusted")
    found = last_weights(WeightStore(folder / "weights", len(kept["ids"])), len(kept["ids"]))
    if found is None:
        return None
    doubtful = ~kept["trusted"]  # a trusted sample's id may be another's
    return _by_id(found[:, doubtful], kept["ids"][doubtful], problem.train.ids)


def _by_id(
    weights: NDArray[np.float32], have: NDArray[np.int64], want: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The columns of the samples `want`; NaN for those that a method left out."""
    places = {int(one): place for place, one in enumerate(have)}
    of = np.array([places.get(int(one), len(have)) for one in want])  # (n,)
    nobody = np.full((len(weights), 1), np.nan, np.float32)
    return np.hstack([weights, nobody])[:, of]


def last_weights(store: WeightStore, size: int) -> NDArray[np.float32] | None:
    """Of the last epochs, for the first `size` samples: (epochs, size)."""
    rows = [store.epoch(epoch)[:size] for epoch in store.epochs()[-LAST_EPOCHS:]]
    return np.stack(rows) if rows else None


def weight_ranks(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each sample's place in (0, 1) by mean weight over the last epochs; 1/2 where never seen."""
    mean = mean_weights(weights)  # (n,)
    seen = ~np.isnan(mean)
    ranks = np.full(len(mean), 0.5, np.float32)
    ranks[seen] = (rankdata(mean[seen]) - 0.5) / max(1, seen.sum())  # ties share their place
    return ranks


def weight_or_nan(weights: NDArray[np.float32] | None, size: int) -> NDArray[np.float32]:
    """Mean weight (n,) of the last epochs; NaN where nobody gave any."""
    return np.full(size, np.nan, np.float32) if weights is None else mean_weights(weights)


def unweighed(weight: NDArray[np.float32]) -> Iterator[str]:
    """What to know of the scores where one of the two witnesses is silent; NaN (n,) says so."""
    silent = int(np.isnan(weight).sum())
    if silent == len(weight):
        yield "the run gave no weights: how suspicious a sample is rests on the student's answers alone"
    elif silent > MOST_UNSEEN * len(weight):
        yield (
            f"{silent:,} of {len(weight):,} samples were not shown in the last epochs: no weight speaks for "
            "or against them"
        )


def mean_weights(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean (n,) over the last epochs in which a sample was seen; NaN where in none."""
    history = np.atleast_2d(weights)[-LAST_EPOCHS:]  # (epochs, n)
    seen = (~np.isnan(history)).sum(axis=0)
    total = np.nansum(history, axis=0, dtype=np.float64)
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan).astype(np.float32)
