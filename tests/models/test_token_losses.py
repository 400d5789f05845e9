"""The loss of a pair, against its definition."""

import pytest
import torch

from reweigh.models.token_losses import label_smoothed_losses


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_it_is_the_mean_over_real_words(smoothing: float) -> None:
    torch.manual_seed(0)
    logits = torch.randn(2, 3, 5, dtype=torch.float64)
    target = torch.tensor([[4, 3, 2], [2, 0, 0]])
    log_p = logits.log_softmax(-1)

    def word(n: int, t: int) -> float:
        own = -log_p[n, t, target[n, t]]
        return float((1 - smoothing) * own - smoothing * log_p[n, t].mean())

    found = label_smoothed_losses(logits, target, smoothing)
    assert found[0].item() == pytest.approx(sum(word(0, t) for t in range(3)) / 3)
    assert found[1].item() == pytest.approx(word(1, 0))


def test_a_pair_of_padding_alone_has_no_loss() -> None:
    found = label_smoothed_losses(torch.randn(1, 2, 5), torch.zeros(1, 2).long(), 0.1)
    assert found.tolist() == [0.0]
