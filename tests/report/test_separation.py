import numpy as np
import pytest

from reweigh.report.separation import separation

LABELS = np.arange(600) % 3


def test_of_texts_it_is_the_total_variation_distance() -> None:
    cells = np.where(LABELS == 0, "a", np.where(np.arange(600) < 300, "a", "b"))
    apart = separation(cells, LABELS, 3)
    assert apart(0, 1) == pytest.approx(0.5)
    assert apart(1, 2) == pytest.approx(0)


def test_of_numbers_it_grows_with_the_distance_of_the_means() -> None:
    x = np.random.default_rng(0).normal(size=600) + 2 * (LABELS == 1) + 8 * (LABELS == 2)
    day = 1.7e9 + x  # seconds of a date
    for cells in (x, day, day.astype(str)):
        apart = separation(cells, LABELS, 3)
        assert apart(0, 1) == pytest.approx(0.68, abs=0.05)
        assert apart(0, 2) == pytest.approx(1, abs=0.01)
        assert apart(1, 1) == 0


def test_constants_gaps_and_classes_without_rows() -> None:
    assert separation(np.ones(600), LABELS, 3)(0, 1) == 0
    assert separation(LABELS, LABELS, 3)(0, 1) == 1
    assert separation(np.full(600, np.nan), LABELS, 3)(0, 1) == 0
    assert separation(np.where(LABELS == 0, np.inf, 1.0), LABELS, 3)(1, 2) == 0
    for cells in (np.ones(600), np.full(600, "a")):
        assert 0 <= separation(cells, LABELS, 5)(0, 4) <= 1


def test_prose_and_keys_tell_no_class() -> None:
    keys = np.array([f"key {k}" for k in range(600)], object)
    assert separation(keys, LABELS, 3)(0, 1) == 0


def test_decimal_commas_are_numbers_where_the_table_has_such() -> None:
    cells = np.array([f"{x:.3f}".replace(".", ",") for x in LABELS + np.arange(600) / 7e3])
    assert separation(cells, LABELS, 3, decimal_commas=True)(0, 1) == pytest.approx(1, abs=0.01)
    assert separation(cells, LABELS, 3)(0, 1) == 0
