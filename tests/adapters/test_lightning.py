"""Under Lightning's trainer the same student and teacher come out as in a loop of one's own."""

import copy
import pickle
from pathlib import Path

import pytest
import torch
from tests.adapters import toy
from torch.utils.data import DataLoader, TensorDataset

L = pytest.importorskip("lightning", reason="lightning is not installed")

from reweigh.adapters.lightning import Reweighing, WeightedLoss  # noqa: E402
from reweigh.errors import UnsupportedError, UsageError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # the framework's own


class Module(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = toy.net()

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        return self.weighted_loss(*batch)

    def configure_optimizers(self):
        return toy.optimizer_of(self)


def trained(where: Path, epochs: int = 2, resume: Path | None = None, **options):
    module = Module()
    one = toy.teacher(module, "net.2")
    callback = Reweighing(one, trusted=toy.TRUSTED, **toy.SETTINGS)
    trainer = L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=where, callbacks=[callback],
        enable_checkpointing=resume is not None or options.pop("keep", False), **options,
    )  # fmt: skip
    loader = DataLoader(TensorDataset(toy.X, toy.Y), batch_size=8)
    trainer.fit(module, loader, ckpt_path=resume)
    return toy.parameters(module, one), trainer


@pytest.mark.parametrize(
    "options", [{}, {"accumulate_grad_batches": 2}, {"gradient_clip_val": 0.1}]
)
def test_the_trainer_gives_what_a_loop_gives(options: dict, tmp_path: Path) -> None:
    found, trainer = trained(tmp_path, **options)
    expected, loop = toy.plain(
        2,
        accumulate=options.get("accumulate_grad_batches", 1),
        clip_norm=options.get("gradient_clip_val"),
    )
    assert loop.clock.updates >= 3
    toy.assert_same(found, expected)
    assert trainer.global_step == loop.clock.steps


def test_a_checkpoint_holds_the_teacher(tmp_path: Path) -> None:
    _, trainer = trained(tmp_path, epochs=1, keep=True)
    path = Path(trainer.checkpoint_callback.best_model_path)
    found, _ = trained(tmp_path / "again", epochs=2, resume=path)
    toy.assert_same(found, toy.plain(2)[0])


def test_a_checkpoint_may_fall_into_an_accumulated_step(tmp_path: Path) -> None:
    module = Module()
    callback = Reweighing(
        toy.teacher(module, "net.2"), trusted=toy.TRUSTED, clip_norm=0.1, **toy.SETTINGS
    )
    saves = L.pytorch.callbacks.ModelCheckpoint(tmp_path, every_n_train_steps=1, save_top_k=-1)

    class Asks(L.Callback):
        def on_train_batch_end(self, trainer, module, *rest):
            trainer.save_checkpoint(tmp_path / "any.ckpt")

    trainer = L.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[callback, saves, Asks()], accumulate_grad_batches=3,
        default_root_dir=tmp_path,
    )  # fmt: skip
    loader = DataLoader(TensorDataset(toy.X, toy.Y), batch_size=8)
    trainer.fit(module, loader)
    assert callback.reweigher.clock.steps == 4
    assert not callback._saved
    toy.assert_same(
        toy.parameters(module, callback.teacher), toy.plain(2, accumulate=3, clip_norm=0.1)[0]
    )


def test_a_part_of_the_module_may_be_the_student(tmp_path: Path) -> None:
    module = Module()
    callback = Reweighing(
        toy.teacher(module.net), trusted=toy.TRUSTED, student="net", **toy.SETTINGS
    )
    trainer = L.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_checkpointing=False, enable_model_summary=False, callbacks=[callback],
        default_root_dir=tmp_path,
    )  # fmt: skip
    trainer.fit(module, DataLoader(TensorDataset(toy.X, toy.Y), batch_size=8))
    toy.assert_same(toy.parameters(module, callback.teacher), toy.plain(1)[0])
    assert not hasattr(module, "weighted_loss")


def test_what_cannot_be_right_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="clip_norm="):
        trained(tmp_path, accumulate_grad_batches=2, gradient_clip_val=0.1)
    with pytest.raises(UnsupportedError, match="by their norm only"):
        trained(tmp_path, gradient_clip_val=0.1, gradient_clip_algorithm="value")
    with pytest.raises(UsageError, match="before training"):
        Reweighing(None).loss(torch.zeros(1))


def test_a_step_that_returns_its_own_loss_is_told(tmp_path: Path, monkeypatch, caplog) -> None:
    def forgotten(self: Module, batch, index):
        return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])

    monkeypatch.setattr(Module, "training_step", forgotten)
    trained(tmp_path)
    assert caplog.text.count("return self.weighted_loss") == 1


def test_a_copy_of_the_module_in_training_does_not_copy_the_reweigher() -> None:
    callback = Reweighing(None)
    own = WeightedLoss(callback)
    for copied in (copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
        with pytest.raises(UsageError, match="this is a copy"):
            copied(1)


def test_a_part_that_is_not_there_is_answered_with_those_that_are() -> None:
    callback = Reweighing(None, student="model")
    with pytest.raises(UsageError, match="has no part 'model' to learn; it has net"):
        callback._student(Module())
