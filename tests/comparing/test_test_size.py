import pytest

from reweigh.comparing.test_size import by_size, worth_telling


def test_a_share_of_few_samples_has_a_binomial_error() -> None:
    assert 100 * by_size(0.286, 189) == pytest.approx(3.29, abs=0.01)
    assert by_size(0.0, 189) == 0


def test_it_is_told_unless_the_spread_over_seeds_is_much_larger() -> None:
    assert worth_telling(3.3, (28.6, None))
    assert worth_telling(3.3, (28.6, 0.7))
    assert not worth_telling(0.3, (28.6, 0.7))
    assert not worth_telling(0.0, (0.0, None))  # no error at all is not certain
