"""The meta-gradient through a Transformer that translates, with dropout and label smoothing."""

from collections.abc import Callable

import pytest
import torch
from tests.metagrad.brute_force import RULES, Unrolled, _reader, relative_error
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel

import reweigh
from reweigh.models.token_losses import label_smoothed_losses
from reweigh.models.transformer import Transformer
from reweigh.student.seen import Progress, Seen
from reweigh.teachers.features import InternalState
from reweigh.teachers.linear import LinearTeacher

Pairs = dict[str, Tensor]


def loss(student: Callable[[Pairs], Tensor], batch: Pairs) -> Tensor:
    return label_smoothed_losses(student(batch), batch["target_out"], 0.1)


class UnrolledTranslation(Unrolled):
    """The reference on sentence pairs."""

    def _look(self, batch: Pairs, steps: int) -> Seen:  # pyright: ignore[reportIncompatibleMethodOverride] (batches are dicts here)
        states: dict[str, Tensor] = {}
        layers = dict(self.student.named_modules())
        handles = [
            layers[tap.layer].register_forward_hook(_reader(states, tap.key, tap.side))
            for tap in self.teacher.taps
        ]
        at = {**self.theta, **self.buffers}
        losses = loss(lambda b: functional_call(self.student, at, (b,)), batch)
        for handle in handles:
            handle.remove()
        return Seen(losses, None, states, Progress())

    def _measure(self, trusted: Pairs) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride] (batches are dicts here)
        return self._look(trusted, steps=0).losses.mean()


def student(attention_dropout: float) -> Transformer:
    torch.manual_seed(0)
    return Transformer(
        12, width=8, inner=10, heads=2, layers=(1, 1), dropout=0.2,
        attention_dropout=attention_dropout,
    ).double()  # fmt: skip


def teacher(student: nn.Module) -> reweigh.Teacher:
    torch.manual_seed(3)
    looks = ("decoder_pool", "encoder_pool", "target_pool")
    made = LinearTeacher([InternalState(student, layer, side="output") for layer in looks])
    for p in made.parameters():
        nn.init.normal_(p, std=0.5)
    return made.double()


def pairs(count: int) -> list[Pairs]:
    torch.manual_seed(5)
    made = []
    for _ in range(count):
        source, target = torch.randint(3, 12, (3, 4)), torch.randint(3, 12, (3, 5))
        source[1, 2:], target[2, 3:] = 0, 0
        made.append({"source": source, "target_in": target[:, :-1], "target_out": target[:, 1:]})
    return made


@pytest.mark.parametrize(
    ("attention_dropout", "rule", "trajectory"),
    [
        (0.0, "momentum", "kept"),
        (0.2, "momentum", "kept"),
        (0.2, "momentum", "snapshots"),
        (0.0, "adam", "snapshots"),
    ],
)
def test_it_equals_unrolled_autograd(attention_dropout: float, rule: str, trajectory: str) -> None:
    *batches, trusted = pairs(5)
    theirs = student(attention_dropout)
    reference = UnrolledTranslation(
        theirs, RULES[rule](theirs.parameters()), teacher(theirs), through=2
    )
    torch.manual_seed(11)
    with sdpa_kernel(SDPBackend.MATH):
        expected = reference.run(batches, trusted)  # pyright: ignore[reportArgumentType] (dicts)

    ours = student(attention_dropout)
    reweigher = reweigh.Reweigher(
        ours, RULES[rule](ours.parameters()), teacher(ours), trusted=trusted,
        per_sample_loss=loss, every=None, through=2, trajectory=trajectory,
    )  # fmt: skip
    torch.manual_seed(11)
    for batch in batches:
        reweigher.step(batch)
    assert relative_error(reweigher.meta_gradient(trusted), expected) < 1e-9
    assert reweigher.engine is not None
    assert reweigher.engine.derivatives.kernels.plain_attention == (attention_dropout == 0)
