import torch

from reweigh.methods.mentor_lessons import PredefinedLessons
from reweigh.teachers.mentor import EPOCHS, Mentor, educate


def test_the_mentor_learns_the_predefined_curriculum_on_unseen_losses() -> None:
    torch.manual_seed(0)
    mentor, lessons = Mentor(), PredefinedLessons()
    before = mentor.epoch.weight.clone()
    generator = torch.Generator().manual_seed(0)
    educate(mentor, lambda: lessons.draw(256, 99, generator), steps=600, lr=0.1)
    *features, targets = lessons.draw(20_000, 99, torch.Generator().manual_seed(1))
    with torch.no_grad():
        misses = (mentor(*features).sigmoid() - targets).abs()
    assert misses.mean() < 0.04
    assert torch.equal(mentor.epoch.weight, before)  # as published, not trained


def test_it_sees_loss_excess_and_time_and_nothing_else() -> None:
    torch.manual_seed(0)
    mentor = Mentor()
    losses = torch.tensor([1.0, 2.0, 1.0, 1.0, 1.0])
    excesses = torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0])
    epochs = torch.tensor([0, 0, 0, EPOCHS - 1, 0])
    v = mentor(losses, excesses, epochs)
    assert v.shape == (5,)
    assert len({round(x, 6) for x in v[:4].tolist()}) == 4
    torch.testing.assert_close(v[4], v[0])
    assert sum(p.numel() for p in mentor.parameters() if p.requires_grad) == 2 * 20 + 4 + 221
