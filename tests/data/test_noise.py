import numpy as np
import pytest

from reweigh.data.noise import Noise, parse_noise, plant, transition
from reweigh.data.samples import numbered
from reweigh.errors import DataError, UsageError


def labelled(n, K):
    return numbered(np.zeros((n, 1), dtype=np.float32), np.arange(n) % K)


@pytest.mark.parametrize(
    "text", ["", "uniform", "uniform:nan", "flip:1.1", "flip:-0.1", "uniform:x", "flip:inf",
             "gauss:0.1", "none:0.1", "matrix:"]
)  # fmt: skip
def test_bad_noise_is_a_usage_error(text):
    with pytest.raises(UsageError, match="Noise"):
        parse_noise(text)


def test_uniform_is_the_formula_and_may_keep_the_label():
    C = transition(parse_noise("uniform:0.4"), 10, seed=0)
    np.testing.assert_allclose(C, 0.4 / 10 * np.ones((10, 10)) + 0.6 * np.eye(10))


def test_flip_has_two_other_classes_from_the_seed():
    C = transition(parse_noise("flip:0.4"), 10, seed=0)
    np.testing.assert_allclose(np.diag(C), 0.6)
    np.testing.assert_allclose(C.sum(axis=1), 1)
    assert ((C == 0.2).sum(axis=1) == 2).all()
    assert not np.array_equal(C, transition(parse_noise("flip:0.4"), 10, seed=1))
    two = transition(parse_noise("flip:0.3"), 2, seed=0)
    np.testing.assert_allclose(two, [[0.7, 0.3], [0.3, 0.7]])


@pytest.mark.parametrize("text", ["uniform:0.6", "flip:0.4", "uniform:0", "flip:1"])
def test_planted_labels_follow_the_matrix(text):
    train, K = labelled(60_000, 5), 5
    C = transition(parse_noise(text), K, seed=3)
    noisy = plant(train, C, seed=3)
    counts = np.zeros((K, K))
    np.add.at(counts, (train.labels, noisy), 1)
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), C, atol=0.02)
    assert (counts[C == 0] == 0).all()


def test_a_samples_fate_depends_on_seed_and_id_only():
    train = labelled(1000, 5)
    C = transition(parse_noise("uniform:0.5"), 5, seed=0)
    noisy = plant(train, C, seed=0)
    some = np.asarray([7, 500, 3])
    np.testing.assert_array_equal(plant(train.take(some), C, seed=0), noisy[some])
    assert not np.array_equal(plant(train, C, seed=1), noisy)


def test_matrix_from_a_file(tmp_path):
    C = np.asarray([[0.9, 0.1], [0.0, 1.0]])
    np.save(tmp_path / "c.npy", C)
    np.savetxt(tmp_path / "c.csv", C, delimiter=",")
    for name in ("c.npy", "c.csv"):
        np.testing.assert_array_equal(transition(parse_noise(f"matrix:{tmp_path / name}"), 2, 0), C)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[1.0, 0.0]], r"shape \(1, 2\); expected \(2, 2\)"),
        ([[0.9, 0.2], [0, 1]], "row 0 sums to 1.1"),
        ([[1, 0], [1.5, -0.5]], "no noise matrix"),
        ([[1, 0], [np.nan, 1]], "row 1 sums to nan"),
    ],
)
def test_bad_matrix_gets_one_sentence(tmp_path, matrix, sentence):
    np.save(tmp_path / "c.npy", np.asarray(matrix, dtype=float))
    with pytest.raises(DataError, match=sentence):
        transition(Noise("matrix", path=tmp_path / "c.npy"), 2, 0)


def test_unreadable_matrix_gets_one_sentence(tmp_path):
    (tmp_path / "c.csv").write_text("a,b\n")
    np.save(tmp_path / "o.npy", np.asarray([{}], dtype=object), allow_pickle=True)
    for name in ("c.csv", "o.npy", "none.npy"):
        with pytest.raises(DataError, match="cannot be read as a noise matrix"):
            transition(Noise("matrix", path=tmp_path / name), 2, 0)
