import pytest
import torch
from torch import Tensor

from reweigh.student.seen import Progress, Seen
from reweigh.teachers import Feature, PairTeacher


class Given(Feature):
    """A state that stands in `Seen` under its name."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size

    def __call__(self, seen: Seen) -> Tensor:
        return seen.states[self.name]


def seen(losses: list[float]) -> Seen:
    draw = torch.Generator().manual_seed(0)
    n = len(losses)
    states = {"I": torch.randn(n, 5, generator=draw), "E": torch.randn(n, 4, generator=draw)}
    return Seen(torch.tensor(losses), None, states, Progress())


def teacher(agreement: bool) -> PairTeacher:
    torch.manual_seed(0)
    return PairTeacher(Given("I", 5), Given("E", 4), agreement=agreement, rank=3)


@pytest.mark.parametrize("agreement", [True, False])
def test_training_starts_as_plain_training(agreement: bool) -> None:
    assert teacher(agreement)(seen([1.0, 9.0])).tolist() == [0.5, 0.5]


def test_a_pair_that_is_understood_worse_than_trusted_ones_weighs_less() -> None:
    one = teacher(True)
    one.notice_trusted(seen([1.0, 2.0, 3.0]))
    w = one(seen([1.0, 2.0, 3.0, 100.0])).detach()
    assert w[1].item() == pytest.approx(0.5)
    assert (w.diff() < 0).all()
    deviation = (2 / 3) ** 0.5
    expected = [1 / deviation, 0, -1 / deviation, -3]  # no further than three deviations
    assert one.margin(seen([1.0, 2.0, 3.0, 100.0])).tolist() == pytest.approx(expected, abs=1e-4)


def test_trusted_losses_are_remembered_for_a_while() -> None:
    one = teacher(True)
    one.notice_trusted(seen([2.0, 2.0]))
    one.notice_trusted(seen([12.0, 12.0]))
    assert one.trusted[0] == pytest.approx(3.0)


def test_the_interaction_is_bilinear_in_state_and_target() -> None:
    one, batch = teacher(False), seen([1.0, 1.0, 1.0])
    with torch.no_grad():
        one.directions.normal_()
        one.alone.weight.normal_()
    assert one(batch).tolist() == [0.5] * 3  # nothing is usual yet
    one.notice_trusted(batch)
    I, E = (  # noqa: E741
        (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-6).sqrt() / x.shape[1] ** 0.5
        for x in (batch.states["I"], batch.states["E"])
    )
    together = torch.einsum("ni,ir,er,ne->n", I, one.basis, one.directions, E)
    alone = torch.cat([I, E], 1) @ one.alone.weight[0] + one.alone.bias
    torch.testing.assert_close(one(batch), (together + alone).sigmoid())


def test_without_agreement_losses_do_not_matter() -> None:
    one = teacher(False)
    one.notice_trusted(seen([1.0, 2.0]))
    assert torch.equal(one(seen([1.0, 2.0])), one(seen([8.0, 3.0])))
    assert not one.scale.requires_grad


def test_what_all_sentences_share_has_no_part_in_the_weights() -> None:
    """One step of Adam on many coordinates must not saturate: the shared part is large in practice."""
    wide = PairTeacher(Given("I", 256), Given("E", 256), agreement=True)
    draw = torch.Generator().manual_seed(0)
    states = {name: 3 + torch.randn(64, 256, generator=draw) for name in ("I", "E")}
    losses = torch.rand(64, generator=draw)
    batch = Seen(losses, None, states, Progress())
    wide.notice_trusted(batch)
    before = wide(batch).detach()
    optimizer = torch.optim.Adam(wide.parameters(), lr=0.01)
    for _ in range(5):
        optimizer.zero_grad()
        wide(batch).sum().backward()
        optimizer.step()
    after = wide(batch).detach()
    assert torch.corrcoef(torch.stack([before, after]))[0, 1] > 0.95
    assert after.std() > 0.8 * before.std()
