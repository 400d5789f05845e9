"""How sure a lead is: against known answers, and how often chance is taken for one."""

import numpy as np
import pytest

from reweigh.comparing.lead import lead


def wrong(*where: range, n: int = 200) -> np.ndarray:
    """(seeds, n): the samples that each seed got wrong."""
    return np.array([np.isin(np.arange(n), list(some)) for some in where])


def test_one_seed_has_the_interval_of_paired_proportions() -> None:
    """30 answers are wrong in the other alone, 10 in ours alone: b = 30, c = 10 of n = 200."""
    found = lead(wrong(range(30, 60)), wrong(range(20, 50)) | wrong(range(60, 80)))
    assert found.points == pytest.approx(100 * (30 - 10) / 200)
    se = np.sqrt(30.5 + 10.5 - 20**2 / 202) / 202  # half a sample more in each cell
    assert found.within == pytest.approx(100 * 1.972 * se, rel=1e-3)  # Student's t of 201
    assert found.beyond_chance
    assert found.one_seed


def test_what_both_get_wrong_does_not_blur_the_difference() -> None:
    ours, other = wrong(range(0, 90)), wrong(range(0, 106))
    assert lead(ours, other).beyond_chance  # unpaired shares, 45 % and 53 %, would be ± 9.8
    few = lead(wrong(range(0)), wrong(range(4)))
    assert not few.beyond_chance  # four answers, all one way: McNemar's exact p is 0.125


def test_seeds_that_differ_widen_it_and_count_for_few() -> None:
    steady = lead(wrong(range(20), range(20)), wrong(range(40), range(40)))
    shaken = lead(wrong(range(15), range(25)), wrong(range(35), range(45)))
    assert steady.points == shaken.points == pytest.approx(10)
    assert steady.beyond_chance
    assert shaken.within > 1.5 * steady.within
    assert not steady.one_seed


def test_nothing_is_behind_itself() -> None:
    same = lead(wrong(range(20)), wrong(range(20)))
    assert same.points == 0
    assert not same.beyond_chance


@pytest.mark.parametrize("seeds", [2, 3])
def test_methods_that_are_alike_are_rarely_told_apart(seeds: int) -> None:
    """Samples differ in how hard they are, trainings in how good they turn out."""
    draws = np.random.default_rng(0)

    def trained(hard: np.ndarray) -> np.ndarray:
        shape = (seeds, len(hard))
        return hard + 0.3 * draws.normal(size=(seeds, 1)) + 0.7 * draws.normal(size=shape) > 1

    found = []
    for _ in range(400):
        hard = 2 * draws.normal(size=1000)
        found.append(lead(trained(hard), trained(hard)).beyond_chance)
    assert np.mean(found) < 0.07
