"""scikit-learn: a classifier for rows or images of which some labels are wrong and some are checked.

```python
model = ReweighedClassifier(epochs=30).fit(X, y, trusted=checked)  # checked: (n,) bool
model.predict(X_new)
X[model.label_quality_.argsort()[:10]]  # the ten labels to look at first
```

In a pipeline: `pipe.fit(X, y, classifier__trusted=checked)`; in a cross-validation:
`cross_val_score(model, X, y, params={"trusted": checked})`.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_array, check_is_fitted

from reweigh.audit.issues import find_label_issues
from reweigh.audit.quality import get_label_quality_scores
from reweigh.audit.weights import last_weights, weight_or_nan
from reweigh.config import RunConfig, read_config
from reweigh.data.first_few import first_few
from reweigh.data.overlap import drop_copies
from reweigh.data.samples import Problem, Samples, numbered
from reweigh.errors import UsageError
from reweigh.methods import method_for
from reweigh.training.environment import choose_device
from reweigh.training.generators import seeded
from reweigh.training.inputs import Inputs
from reweigh.training.loop import Loop
from reweigh.training.predictor import answers
from reweigh.training.progress import SilentProgress
from reweigh.training.trials import Trials
from reweigh.training.weight_store import WeightStore
from reweigh.training.workshop import Workshop


class ReweighedClassifier(ClassifierMixin, BaseEstimator):
    """A small network, trained under a teacher that learns from the trusted rows.

    Args:
        epochs: passes over the rows; more for few rows, since the teacher learns every few steps.
        method: any of `reweigh compare`: deep, uniform, trusted-only, …
        settings: as for `reweigh train --set`, such as ("training.lr=0.01", "student.model=mlp").
        random_state: the seed.

    Attributes:
        classes_: (K,) the labels.
        label_quality_: (n,) how much each given label is to be believed, in [0, 1]; 1 for trusted.
        is_label_issue_: (n,) bool.
        sample_weight_: (n,) the mean weight of the last epochs; NaN for trusted rows.
    """

    def __init__(
        self,
        *,
        epochs: int = 30,
        method: str = "deep",
        settings: Sequence[str] = (),
        random_state: int = 0,
    ) -> None:
        self.epochs, self.method = epochs, method
        self.settings, self.random_state = settings, random_state

    def fit(self, X: ArrayLike, y: ArrayLike, trusted: ArrayLike | None = None) -> Self:
        """Learn from rows (n, d) or uint8 images (n, h, w[, c]); `trusted` (n,) bool: checked ones."""
        inputs, given = _inputs(X), column_or_1d(y)
        check_consistent_length(inputs, given)
        assert_all_finite(given)
        known = _mask(trusted, len(given))
        self.classes_, codes = np.unique(given, return_inverse=True)
        self.n_features_in_ = int(np.prod(inputs.shape[1:]))
        self._learn_scale(inputs)
        whole = numbered(self._scaled(inputs), codes.astype(np.int64))
        problem = self._problem(whole, known)
        self._config = _config(self)
        self._inputs_ = Inputs.of(problem)
        self._student, weights = _trained(self._config, problem)
        self._agree_with_copies(whole, known)
        self._judge(inputs, problem.train, weights)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float32]:
        """p(k | x), (n, K)."""
        check_is_fitted(self, "_student")
        raw = _inputs(X)
        if int(np.prod(raw.shape[1:])) != self.n_features_in_:
            raise UsageError(
                f"a sample has {int(np.prod(raw.shape[1:]))} numbers, but the model was fitted on "
                f"{self.n_features_in_}"
            )
        device, training = choose_device(self._config.device), self._config.training
        return answers(self._student, self._scaled(raw), self._inputs_, training, device)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The likeliest class of each row, (n,)."""
        likeliest = self.predict_proba(X).argmax(1)
        return self.classes_[likeliest]

    def _learn_scale(self, inputs: NDArray[Any]) -> None:
        self._mean, self._scale = np.zeros(1), np.ones(1)
        if inputs.ndim == 2:
            same = (inputs == inputs[:1]).all(0)  # (d,): they teach nothing, and are 0 in all rows
            self._mean = np.where(same, inputs[0], inputs.mean(0))
            self._scale = np.where(same, np.inf, inputs.std(0))

    def _scaled(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Rows standardised; pictures are normalised where they are placed."""
        if inputs.ndim != 2:
            return inputs[..., None] if inputs.ndim == 3 else inputs
        return ((inputs - self._mean) / self._scale).astype(np.float32)

    def _problem(self, whole: Samples, known: NDArray[np.bool_]) -> Problem:
        checked, names = whole.take(known), tuple(map(str, self.classes_))
        missing = set(range(len(self.classes_))) - set(checked.labels.tolist())
        if missing:  # a fold of a cross-validation may lose those of a rare class
            told = first_few([repr(names[c]) for c in sorted(missing)], "classes")
            warnings.warn(
                f"no trusted row has class {told}: whether labels say so rightly cannot be learned; "
                "check some",
                stacklevel=3,
            )
        kind = "table" if whole.inputs.ndim == 2 else "image"
        rest = drop_copies(whole.take(~known), checked)
        return Problem(rest, checked, checked, names, kind, None, {})  # nothing is tested here

    def _agree_with_copies(self, whole: Samples, known: NDArray[np.bool_]) -> None:
        """A copy of a trusted row is right if its label is the same; nothing else need be asked."""
        hashes, labels = whole.content_hashes().tolist(), whole.labels.tolist()
        sure = {h: c for h, c, checked in zip(hashes, labels, known, strict=True) if checked}
        wrong = np.array([sure.get(h, c) != c for h, c in zip(hashes, labels, strict=True)])
        self.is_label_issue_ = wrong & ~known
        self.label_quality_ = np.where(wrong, 0, 1).astype(np.float32)

    def _judge(
        self, inputs: NDArray[Any], train: Samples, weights: NDArray[np.float32] | None
    ) -> None:
        rows, given = train.ids, train.labels
        p = self.predict_proba(inputs[rows])
        self.sample_weight_ = np.full(len(inputs), np.nan, np.float32)
        self.sample_weight_[rows] = weight_or_nan(weights, len(rows))
        self.label_quality_[rows] = get_label_quality_scores(given, p)
        self.is_label_issue_[rows] = find_label_issues(given, p)


def _trained(
    config: RunConfig, problem: Problem
) -> tuple[torch.nn.Module, NDArray[np.float32] | None]:
    """The student of the epoch best by the trusted rows, and the last epochs' weights (epochs, n)."""
    method, n = method_for(config.method), len(problem.train)
    with TemporaryDirectory() as folder, seeded(config.seed, choose_device(config.device)):
        method.prepare(Trials(config, problem, method, SilentProgress(), None))
        shop = Workshop(config, problem, method)
        store = WeightStore(Path(folder), shop.task.size) if shop.reweigher.teacher else None
        loop = Loop(shop, store)
        loop.run()
        shop.student.load_state_dict(loop.best_state)
        if store is None or shop.task.doubtful != n:
            return shop.student, None
        return shop.student, last_weights(store, n)


def _config(model: ReweighedClassifier) -> RunConfig:
    options = {
        "training.epochs": model.epochs,
        "method.name": model.method,
        "seed": model.random_state,
    }
    config = read_config(None, options, model.settings)
    if not isinstance(config, RunConfig):
        raise UsageError(f"task is {config.task!r}; this is a classifier")
    return config


def _inputs(X: ArrayLike) -> NDArray[Any]:
    raw = np.asarray(X)
    if raw.ndim > 2 and raw.dtype != np.uint8:
        raise UsageError(
            f"images are uint8 of shape (n, h, w[, c]), not {raw.dtype} of {raw.shape}"
        )
    return raw if raw.ndim in (3, 4) else check_array(X, dtype="float64")


def _mask(trusted: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    if trusted is None:
        raise UsageError(
            "fit needs trusted=: a bool for each row, true where somebody checked the label"
        )
    mask = np.asarray(trusted)
    if mask.shape != (n,) or mask.dtype != np.bool_ or not mask.any() or mask.all():
        raise UsageError(
            f"trusted is {mask.dtype} of shape {mask.shape} with {int(np.sum(mask == 1))} true; expected "
            f"({n},) bool, some true and some not"
        )
    return mask
