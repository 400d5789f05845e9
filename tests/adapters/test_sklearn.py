"""The classifier among scikit-learn's: wrong labels found, better than plain, cloned, in pipelines."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reweigh.adapters.sklearn import ReweighedClassifier
from reweigh.errors import UsageError

SETTINGS = ("training.batch_size=32",)


def rows(n: int = 600, wrong: float = 0.3) -> tuple[np.ndarray, ...]:
    """Three clouds; the next class's name on a share of the labels that nobody checked."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 5)) + 2.0 * np.eye(5)[true] * 2
    checked = np.arange(n) < 60
    flip = (rng.random(n) < wrong) & ~checked
    given = np.where(flip, (true + 1) % 3, true)
    return 100 * x, np.array(["cat", "dog", "owl"])[given], checked, flip, true


def test_it_finds_wrong_labels_and_predicts_right_ones() -> None:
    x, y, checked, flip, true = rows()
    model = ReweighedClassifier(epochs=15, settings=SETTINGS).fit(x, y, trusted=checked)
    assert list(model.classes_) == ["cat", "dog", "owl"]
    assert (model.predict(x) == model.classes_[true]).mean() > 0.93
    rest = ~checked
    assert roc_auc_score(flip[rest], -model.label_quality_[rest]) > 0.95
    assert (model.is_label_issue_ == flip).mean() > 0.9
    assert np.isnan(model.sample_weight_[checked]).all()
    assert model.sample_weight_[rest & flip].mean() < model.sample_weight_[rest & ~flip].mean()
    p = model.predict_proba(x[:7])
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)


def test_the_same_seed_gives_the_same_and_the_generators_stay() -> None:
    x, y, checked, *_ = rows(200)
    before = np.random.get_state()[1].copy()
    made = [ReweighedClassifier(epochs=2).fit(x, y, trusted=checked) for _ in range(2)]
    np.testing.assert_array_equal(made[0].predict_proba(x), made[1].predict_proba(x))
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    other = clone(made[0]).set_params(random_state=1).fit(x, y, trusted=checked)
    assert (other.predict_proba(x) != made[0].predict_proba(x)).any()


def test_in_a_pipeline_and_in_a_cross_validation() -> None:
    x, y, checked, *_ = rows(300, wrong=0.0)
    model = ReweighedClassifier(epochs=6, settings=SETTINGS)
    pipe = make_pipeline(StandardScaler(), model)
    pipe.fit(x, y, reweighedclassifier__trusted=checked)
    assert pipe.score(x, y) > 0.9
    order = np.random.default_rng(1).permutation(len(y))
    scores = cross_val_score(model, x[order], y[order], cv=2, params={"trusted": checked[order]})
    assert scores.mean() > 0.85


def test_pictures_and_methods_without_weights() -> None:
    digits = load_digits()
    images = (digits.images * 15).astype(np.uint8)
    checked = np.arange(len(images)) < 100
    model = ReweighedClassifier(epochs=2, method="uniform").fit(images, digits.target, checked)
    assert model.score(images, digits.target) > 0.5
    assert np.isnan(model.sample_weight_).all()


def test_a_copy_of_a_trusted_row_with_another_label_is_wrong() -> None:
    x, y, checked, *_ = rows(200)
    x[[150, 151]], y[150], y[151] = x[0], y[0], "cat" if y[0] != "cat" else "dog"
    model = ReweighedClassifier(epochs=2).fit(x, y, trusted=checked)
    assert model.label_quality_[[150, 151]].tolist() == [1, 0]
    assert model.is_label_issue_[[0, 150, 151]].tolist() == [False, False, True]


def test_what_does_not_fit_is_said() -> None:
    x, y, checked, *_ = rows(90)
    fitted = ReweighedClassifier(epochs=1).fit(x, y, trusted=checked)
    with pytest.raises(UsageError, match="has 1 numbers, but the model was fitted on 5"):
        fitted.predict(x[:, :1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ReweighedClassifier().fit(x, y[:-1], trusted=checked)
    with pytest.raises(UsageError, match="fit needs trusted="):
        ReweighedClassifier().fit(x, y)
    with pytest.raises(UsageError, match=r"expected \(90,\) bool"):
        ReweighedClassifier().fit(x, y, trusted=np.arange(90))
    with pytest.warns(UserWarning, match="no trusted row has class 'owl'"):
        ReweighedClassifier(epochs=1).fit(x, y, trusted=checked & (y != "owl"))
    with pytest.raises(UsageError, match=r"unknown key training\.lrr"):
        ReweighedClassifier(settings=["training.lrr=1"]).fit(x, y, trusted=checked)
    with pytest.raises(NotFittedError):
        ReweighedClassifier().predict(x)
    with pytest.raises(UsageError, match="images are uint8"):
        ReweighedClassifier().fit(np.zeros((90, 4, 4)), y, trusted=checked)


def test_a_column_that_never_changed_is_not_looked_at() -> None:
    x, y, checked, *_ = rows(200)
    x = np.column_stack([x, np.full(len(x), 7.0)])
    model = ReweighedClassifier(epochs=2).fit(x, y, trusted=checked)
    later = x.copy()
    later[:, -1] = 1e6
    np.testing.assert_array_equal(model.predict_proba(later), model.predict_proba(x))
