from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.methods.blobs import problem
from tests.training.small import settings, shop
from torch import Tensor
from torch.overrides import TorchFunctionMode

from reweigh.errors import DivergedError
from reweigh.training import loop
from reweigh.training.loop import Loop
from reweigh.training.tasks import classification
from reweigh.training.weight_store import WeightStore


def looping(*assignments: str, **options) -> Loop:
    return Loop(shop(settings(*assignments), problem()), **options)


def test_of_equally_good_epochs_the_earliest_is_kept(monkeypatch) -> None:
    errors = iter([0.5, 0.2, 0.3, 0.2])
    monkeypatch.setattr(classification, "error", lambda *_: next(errors))
    told = []
    one = looping("training.epochs=4", "method.name=uniform")
    states = []

    def tell(report: loop.EpochReport) -> None:
        told.append(report.trusted.value)
        states.append({n: t.clone() for n, t in one.shop.student.state_dict().items()})

    one.tell = tell
    one.run()
    assert told == [0.5, 0.2, 0.3, 0.2]
    assert (one.best_epoch, one.best_error) == (1, 0.2)
    for name, kept in one.best_state.items():
        assert torch.equal(kept, states[1][name])
    last = one.shop.student.state_dict()
    assert not all(torch.equal(kept, last[name]) for name, kept in one.best_state.items())


def test_the_stored_weight_of_a_sample_is_w_times_n(tmp_path: Path) -> None:
    one = looping("method.name=perfect-weights")
    one.weights = WeightStore(tmp_path, one.shop.task.size)
    one.run()
    stored = np.asarray(one.weights.epoch(0))
    right = one.shop.task.right.numpy()
    assert (stored[~right] == 0).all()
    batches = one._pass(0)
    for positions in batches:
        share = right[positions.numpy()].mean()
        np.testing.assert_allclose(stored[positions][right[positions]], 1 / share, rtol=1e-5)
        np.testing.assert_allclose(stored[positions].mean(), 1, rtol=1e-5)


def test_every_sample_is_seen_once_an_epoch_in_an_order_of_its_own(tmp_path: Path) -> None:
    one = looping("method.name=uniform", "training.epochs=2")
    orders = []
    for epoch in range(2):
        steps = range(epoch * one.shop.steps_per_epoch, (epoch + 1) * one.shop.steps_per_epoch)
        orders.append(torch.cat([one._positions(step)[0] for step in steps]).tolist())
        assert sorted(orders[-1]) == list(range(40))
    assert orders[0] != orders[1]


def test_a_report_says_what_happened() -> None:
    told = []
    looping("method.name=uniform", "training.epochs=2", tell=told.append).run()
    assert [(r.epoch, r.step) for r in told] == [(0, 5), (1, 10)]
    assert told[1].train_loss < told[0].train_loss
    assert told[0].effective_share == 1
    assert 0 < told[0].train_seconds < told[1].train_seconds
    assert told[1].lr < told[0].lr
    assert [r.row()["teacher_updates"] for r in told] == [0, 0]


def test_a_report_counts_the_teacher_s_lessons() -> None:
    told = []
    looping("method.every=2", "training.epochs=2", tell=told.append).run()
    assert [r.row()["teacher_updates"] for r in told] == [2, 5]


def test_samples_used_are_those_that_weigh_anything() -> None:
    one = looping("method.name=perfect-weights")
    one.run()
    assert int(one.samples_used) == int(one.shop.task.right.sum())


def test_the_student_is_trained_in_training_mode() -> None:
    one = looping("method.name=uniform")
    one.shop.student.eval()
    one.run()
    assert one.shop.student.training


@pytest.mark.parametrize(
    ("method", "position", "called"),
    [("uniform", 7, r"\[107\]"), ("trusted-mixed", 45, r"\[5 \(trusted\)\]")],
)
def test_a_sample_that_is_not_finite_is_called_by_its_id(method, position, called) -> None:
    blobs = problem()
    own = replace(blobs.train, ids=100 + blobs.train.ids)
    one = Loop(shop(settings(f"method.name={method}"), replace(blobs, train=own)))
    one.shop.task.train.inputs.values[position] = torch.nan
    with pytest.raises(DivergedError, match=rf"losses hold nan for samples \(ids\) {called}: "):
        one.run()


class Reads(TorchFunctionMode):
    """Counts how often Python reads numbers off tensors: on a GPU each time is a wait."""

    READING = (Tensor.item, Tensor.tolist, Tensor.__bool__, Tensor.__float__, Tensor.__int__)

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.count += func in self.READING
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("settings", [["method.name=uniform"], ["method.every=5"]])
def test_a_step_reads_once(settings: list[str], monkeypatch) -> None:
    monkeypatch.setattr(
        "reweigh.student.batch.refuse_strange", lambda *_: None
    )  # of labels on CPUs only
    one = looping(*settings)
    one.step(0)
    one.done = 1
    with Reads() as reads:
        one.step(1)  # of five, so that nothing is recorded or learned
    assert reads.count == 1
