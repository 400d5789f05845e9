import pytest
import torch
from torch import Tensor

from reweigh.methods.mentor_lessons import PredefinedLessons, TrustedLessons, predefined_weights


def test_the_predefined_curriculum_on_paper() -> None:
    excesses = torch.tensor([-1.0, 0.0, 0.25, 2.0])
    table = {
        0: [1, 1, 1, 1],
        18: [1, 1, 1, 1],
        19: [1, 1, 0, 0],
        89: [1, 1, 0, 0],
        90: [1, 1, 0.75, 0],
        99: [1, 1, 0.75, 0],
    }
    for epoch, weights in table.items():
        assert predefined_weights(excesses, torch.full((4,), epoch)).tolist() == weights


def test_synthetic_losses_cover_the_published_ranges() -> None:
    generator = torch.Generator().manual_seed(0)
    losses, excesses, epochs, _ = PredefinedLessons().draw(60_000, 99, generator)
    assert 0 <= losses.min() < 0.01
    assert 29.9 < losses.max() <= 30
    assert (losses > 10).float().mean() == pytest.approx(1 / 6, abs=0.01)
    assert -5 <= excesses.min() < -4.9 < 4.9 < excesses.max() <= 5
    assert epochs.unique().tolist() == list(range(100))


def lessons(begins: int, asked: list[int]) -> TrustedLessons:
    p = torch.tensor([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3]])

    def predict(number: int) -> tuple[Tensor, Tensor]:
        asked.append(number)
        return p.log(), torch.tensor([0, 1])

    return TrustedLessons(predict, begins=begins, size=2, num_classes=3)


def test_planted_labels_follow_the_students_prediction_and_are_marked_right_or_wrong() -> None:
    """A student that has seen 40 % noise predicts 0.6; then 0.6 of the planted labels are right."""
    one = lessons(begins=1, asked=[])
    one.collect(0, torch.tensor(0.5))
    losses, excesses, epochs, right = one.draw(20_000, 18, torch.Generator().manual_seed(0))
    assert right.mean() == pytest.approx(0.6, abs=0.01)
    torch.testing.assert_close(losses[right == 1].exp().reciprocal().mean(), torch.tensor(0.6))
    assert set(losses[right == 0].neg().exp().mul(10).round().tolist()) == {1.0, 3.0}
    torch.testing.assert_close(excesses, losses - 0.5)
    assert epochs.unique().tolist() == [18]


@pytest.mark.parametrize("begins", [1, 2, 5, 27, 64, 1000])
def test_looks_are_few_and_in_the_second_half_of_burn_in(begins: int) -> None:
    asked: list[int] = []
    one = lessons(begins, asked)
    for step in range(begins):
        one.collect(step, torch.tensor(float(step)))
    assert asked == list(range(len(one.moments)))
    assert 1 <= len(one.moments) <= TrustedLessons.MOMENTS
    assert one.bars.tolist() == one.moments == sorted(set(one.moments))
    assert begins // 2 <= one.moments[0] <= one.moments[-1] < begins
