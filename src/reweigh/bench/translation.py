"""What training a translator through Reweigher costs, in that of a hand-written loop.

Three students of the same sizes take turns, step by step: plain PyTorch, `Reweigher` with
uniform weights, and `Reweigher` with a teacher on the pooled states that learns every 20 steps
through the last 2. Sentences are random words: the cost of a step does not depend on them.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import TypedDict

import torch
from rich.table import Table
from torch import Tensor, nn
from torch.optim import SGD

from reweigh.bench.clock import in_turns, one_thread
from reweigh.models.token_losses import label_smoothed_losses
from reweigh.models.transformer import PRESETS, Transformer
from reweigh.reweigher import Reweigher
from reweigh.teachers.features import InternalState
from reweigh.teachers.linear import LinearTeacher

EVERY, THROUGH = 20, 2
VOCABULARY, PAIRS, WORDS = 10_000, 16, 25
SMOOTHING, DROPOUT = 0.1, 0.3

Pairs = dict[str, Tensor]


class Row(TypedDict):
    """One way to train: target words per second of CPU time, and that over the plain loop's."""

    model: str
    training: str
    tokens_per_second: float
    of_plain: float


def measure(models: Sequence[str], rounds: int) -> Iterator[Row]:
    """Three rows per model; a round is K steps of each way.

    Plain and uniform steps are compared by their medians; training with a teacher by the median
    over rounds, because its steps differ.
    """
    with one_thread():
        for model in models:
            yield from _rows(model, rounds)


def _rows(model: str, rounds: int) -> Iterator[Row]:
    batches = [sentence_pairs(number) for number in range(EVERY)]
    ways = {"plain PyTorch": _plain(model), "uniform weights": _uniform(model)}
    ways[f"teacher, K={EVERY}, B={THROUGH}"] = _taught(model)
    in_turns(ways, batches)  # warms up
    seconds = [in_turns(ways, batches) for _ in range(rounds)]
    words = int((batches[0]["target_out"] != 0).sum())
    plain = _per_step(seconds, "plain PyTorch")
    for way in ways:
        taught = way.startswith("teacher")
        step = (
            median(sum(one[way]) for one in seconds) / EVERY if taught else _per_step(seconds, way)
        )
        base = median(sum(one["plain PyTorch"]) for one in seconds) / EVERY if taught else plain
        yield Row(model=model, training=way, tokens_per_second=words / step, of_plain=base / step)


def _per_step(seconds: Sequence[dict[str, list[float]]], way: str) -> float:
    return median(second for one in seconds for second in one[way])


def _plain(model: str) -> Callable[[Pairs], None]:
    student, optimizer = _student(model)

    def step(batch: Pairs) -> None:
        optimizer.zero_grad(set_to_none=True)
        _losses(student, batch).mean().backward()
        optimizer.step()

    return step


def _uniform(model: str) -> Callable[[Pairs], object]:
    return Reweigher(*_student(model), per_sample_loss=_losses).step


def _taught(model: str) -> Callable[[Pairs], object]:
    student, optimizer = _student(model)
    looks = [
        InternalState(student, f"{side}_pool", side="output") for side in ("decoder", "target")
    ]
    return Reweigher(
        student, optimizer, LinearTeacher(looks), trusted=[sentence_pairs(EVERY)],
        per_sample_loss=_losses, every=EVERY, through=THROUGH,
    ).step  # fmt: skip


def _student(model: str) -> tuple[Transformer, SGD]:
    student = transformer(model, dropout=DROPOUT)
    return student, SGD(student.parameters(), lr=1e-3, momentum=0.9)


def _losses(student: nn.Module, batch: Pairs) -> Tensor:
    return label_smoothed_losses(student(batch), batch["target_out"], SMOOTHING)


def transformer(model: str, *, dropout: float) -> Transformer:
    """A student of these sizes, equal each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Transformer(VOCABULARY, **PRESETS[model], dropout=dropout)


def sentence_pairs(number: int, *, pairs: int = PAIRS, words: int = WORDS) -> Pairs:
    """Random pairs of up to `words` words on both sides; a fifth of each side is shorter."""
    draw = torch.Generator().manual_seed(number)
    source, target = torch.randint(5, VOCABULARY, (2, pairs, words + 1), generator=draw)
    source[: pairs // 5, words - 3 :], target[-(pairs // 5) :, words - 3 :] = 0, 0
    return {"source": source[:, :words], "target_in": target[:, :-1], "target_out": target[:, 1:]}


def table(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    grid = Table("model", "training", "words/s", "speed", "cost", box=None)
    for row in rows:
        speed = f"{row['of_plain']:.3f} × plain"
        cost = f"{1 / row['of_plain']:.3f} × plain"
        words = f"{row['tokens_per_second']:.0f}"
        grid.add_row(row["model"], row["training"], words, speed, cost)
    return grid
