"""Under Hugging Face's Trainer the same student and teacher come out as in a loop of one's own."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tests.adapters import toy
from torch import Tensor, nn

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("accelerate", reason="accelerate is not installed")

from reweigh.adapters.hugging_face import (  # noqa: E402
    ReweighingTrainer,
    classification_loss,
    logits,
)
from reweigh.errors import CheckpointError, UnsupportedError  # noqa: E402


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = toy.net()

    def forward(self, x: Tensor, labels: Tensor | None = None):
        out = self.net(x)
        loss = None if labels is None else nn.functional.cross_entropy(out, labels)
        return (
            SimpleNamespace(logits=out, loss=loss)
            if loss is None
            else {"loss": loss, "logits": out}
        )


class InOrder(ReweighingTrainer):
    def _get_train_sampler(self, *arguments):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def made(where: Path, epochs: int = 2, one=None, **options) -> tuple[Model, ReweighingTrainer]:
    model = Model()
    rows = [{"x": x, "labels": y} for x, y in zip(toy.X, toy.Y, strict=True)]
    arguments = transformers.TrainingArguments(
        output_dir=str(where), num_train_epochs=epochs, per_device_train_batch_size=8, use_cpu=True,
        report_to=[], remove_unused_columns=False, lr_scheduler_type="constant", disable_tqdm=True,
        **({"save_strategy": "no", "max_grad_norm": 0.0} | options),
    )  # fmt: skip
    trainer = InOrder(
        model,
        arguments,
        train_dataset=rows,
        eval_dataset=rows,
        optimizers=(toy.optimizer_of(model, adam=True), None),
        teacher=one or toy.teacher(model, "net.2"),
        trusted={"x": toy.TRUSTED[0], "labels": toy.TRUSTED[1]},
        reweighing=dict(toy.SETTINGS),
    )
    return model, trainer


@pytest.mark.parametrize(
    "options", [{}, {"gradient_accumulation_steps": 2}, {"max_grad_norm": 0.1}]
)
def test_the_trainer_gives_what_a_loop_gives(options: dict, tmp_path: Path) -> None:
    model, trainer = made(tmp_path, **options)
    trainer.train()
    expected, loop = toy.plain(
        2,
        adam=True,
        accumulate=options.get("gradient_accumulation_steps", 1),
        clip_norm=options.get("max_grad_norm"),
    )
    assert loop.clock.updates >= 3
    toy.assert_same(toy.parameters(model, trainer.teacher), expected)
    assert trainer.evaluate()["eval_loss"] > 0


def test_a_checkpoint_holds_the_teacher(tmp_path: Path) -> None:
    _, trainer = made(tmp_path, epochs=2, save_strategy="epoch")
    trainer.train()
    model, again = made(tmp_path, epochs=2, save_strategy="no")
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-5"))
    toy.assert_same(toy.parameters(model, again.teacher), toy.plain(2, adam=True)[0])
    (tmp_path / "checkpoint-5/reweigher.pt").unlink()
    with pytest.raises(CheckpointError, match="made without a teacher"):
        made(tmp_path)[1].train(resume_from_checkpoint=str(tmp_path / "checkpoint-5"))


def test_the_default_teacher_takes_its_logits_from_here(tmp_path: Path) -> None:
    import reweigh

    one = reweigh.PosteriorTeacher(layer="net.2", num_classes=3, logits=logits)
    _, trainer = made(tmp_path, one=one)
    before = [p.detach().clone() for p in one.parameters()]
    trainer.train()
    assert any(not torch.equal(a, b) for a, b in zip(before, one.parameters(), strict=True))


def test_clipping_an_accumulated_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="max_grad_norm=0"):
        made(tmp_path, gradient_accumulation_steps=2, max_grad_norm=1.0)[1].train()


def test_smoothing_that_would_be_left_out_is_refused(tmp_path: Path) -> None:
    _, trainer = made(tmp_path)
    trainer.args.label_smoothing_factor = 0.1
    with pytest.raises(UnsupportedError, match="label_smoothing_factor and compute_loss_func make"):
        trainer.train()


def test_labels_may_be_whole_numbers_of_any_type() -> None:
    batch = {"x": toy.X, "labels": toy.Y.int()}
    losses = classification_loss(Model(), batch)
    assert torch.equal(losses, classification_loss(Model(), batch | {"labels": toy.Y}))
