import pytest
import torch

from reweigh.stepping.figures import Figures


def figures(w: list[float], losses: list[float] | None = None) -> Figures:
    return Figures.of(torch.tensor(w), torch.tensor(losses or [1.0] * len(w)))


def test_effective_share_is_one_for_equal_weights_and_one_nth_for_one_sample():
    assert float(figures([1.0] * 8).effective_share) == 1
    assert float(figures([1.0] + [0.0] * 7).effective_share) == 1 / 8


def test_passes_add_up():
    both = Figures.together([figures([1.0, 0.0], [2.0, 4.0]), figures([3.0], [9.0])])
    assert float(both.mean_loss) == 5
    assert float(both.normaliser("sum")) == 4
    assert float(both.normaliser("count")) == 3
    assert float(both.used) == 2
    assert float(both.effective_share) == pytest.approx(16 / (3 * 10))


def test_a_batch_of_zeros_keeps_its_zeros():
    assert float(figures([0.0, 0.0]).normaliser("sum")) == 1


def test_half_precision_losses_are_summed_in_float32():
    half = Figures.of(torch.ones(3), torch.full((3,), 257.0, dtype=torch.bfloat16))
    assert half.sums.dtype == torch.float32
