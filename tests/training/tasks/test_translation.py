"""Translation through the one loop, on a toy language with a known answer."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.training.interrupted import asked_after, assert_same, everything, run_until_asked
from tests.training.toy_text import TUNE, toy, write_toy

from reweigh.errors import CheckpointError, UsageError
from reweigh.methods import method_for
from reweigh.training.loop import Loop
from reweigh.training.progress import SilentProgress
from reweigh.training.result import BleuResult
from reweigh.training.run import resume, train
from reweigh.training.run_records import read_metrics
from reweigh.training.tasks import Standing, prepared, translation
from reweigh.training.workshop import Workshop

AGREEMENT = ("method.name=deep", "method.teacher=agreement", "method.teacher_lr=0.01")


def tuned(toy_text: Path, toy_run: Path, folder: Path, *assignments: str) -> BleuResult:
    config = toy(toy_text, f"student.start={toy_run}", "training.updates=12", *TUNE, *assignments)
    result = train(config, folder, SilentProgress())
    assert isinstance(result, BleuResult)
    return result


def test_the_toy_language_is_learned(toy_run: Path) -> None:
    result = json.loads((toy_run / "result.json").read_text())
    assert result["bleu_last"] > 90
    tokenised, detokenised = result["tests"]["test"]["last"]
    assert tokenised == result["bleu_last"]
    assert detokenised == pytest.approx(tokenised, abs=3)
    assert "tok:13a" in result["signature"]
    losses = [row["trusted_loss"] for row in read_metrics(toy_run)]
    assert losses[-1] < 0.3 < 1.5 < losses[0]
    assert read_metrics(toy_run)[0]["tokens/s"] > 0
    assert resume(toy_run, SilentProgress()).kept() == result


def test_the_last_epochs_are_averaged_if_asked(
    toy_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    remember = Loop._remember

    def noted(loop: Loop, epoch: int, trusted: Standing) -> None:
        seen.append({k: t.clone() for k, t in loop.shop.student.state_dict().items()})
        remember(loop, epoch, trusted)

    monkeypatch.setattr(Loop, "_remember", noted)
    train(
        toy(toy_text, "training.epochs=3", "training.average=2"), tmp_path / "run", SilentProgress()
    )
    mean = load_file(tmp_path / "run/model.safetensors")
    for name, found in mean.items():
        torch.testing.assert_close(found, (seen[1][name] + seen[2][name]) / 2)


def test_fine_tuning_begins_where_the_other_run_was_best(
    toy_text: Path, toy_run: Path, tmp_path: Path
) -> None:
    start = ("training.updates=1", "training.lr=1e-9")
    result = tuned(toy_text, toy_run, tmp_path / "run", *start)
    best = json.loads((toy_run / "result.json").read_text())["bleu_best_by_trusted"]
    assert result.bleu_last == best
    assert result.steps == 1
    file = tuned(toy_text, toy_run / "best.safetensors", tmp_path / "file", *start)
    assert file.bleu_last == best


@pytest.mark.parametrize(
    "method",
    [
        ("method.name=trusted-only",),
        ("method.name=trusted-mixed",),
        ("method.name=meta-weight-net",),
        ("method.name=l2t-data", "method.episodes=1"),
        ("method.name=deep", "method.teacher=linear", "method.every=4", "method.through=2"),
        ("method.name=deep", "method.teacher=interaction"),
        ("method.name=deep", "method.teacher=mlp", 'method.features=["I0", "I1", "M0", "M1"]'),
        ("method.name=clean-labels",),
        ("method.name=self-paced", "method.per_class=false"),
    ],
    ids=lambda m: "_".join(w.partition("=")[2] for w in m[:2]),
)
def test_every_method_that_makes_sense_of_pairs(
    toy_text: Path, toy_run: Path, tmp_path: Path, method: tuple[str, ...]
) -> None:
    result = tuned(toy_text, toy_run, tmp_path / "run", "data.noise=mask:0.3:0.3", *method)
    assert 80 < result.bleu_last <= 100


def test_the_agreement_teacher_finds_masked_pairs(
    toy_text: Path, toy_run: Path, tmp_path: Path
) -> None:
    noisy = ("data.noise=mask:0.3:0.3", "training.updates=38", *AGREEMENT)
    result = tuned(toy_text, toy_run, tmp_path / "run", *noisy)
    assert result.noise_auroc is not None
    assert result.noise_auroc > 0.9
    (few,) = [word for word in result.cautions if "the teacher learns only" in word]
    assert "train with training.updates = 240 or more" in few  # its length was asked for in steps


@pytest.mark.parametrize("steps", [5, 27])
def test_a_stopped_run_goes_on_to_the_same_bits(
    toy_text: Path, toy_run: Path, tmp_path: Path, monkeypatch, steps: int
) -> None:
    config = toy(
        toy_text, f"student.start={toy_run}", *TUNE, "data.noise=mask:0.3:0.3",
        "training.epochs=2", "student.dropout=0.1", "method.name=deep", "method.every=4",
    )  # fmt: skip
    train(config, tmp_path / "whole", SilentProgress())
    with monkeypatch.context() as patch:
        asked_after(patch, steps)
        run_until_asked(config, tmp_path / "parts")
    resume(tmp_path / "parts", SilentProgress())
    assert_same(everything(tmp_path / "whole"), everything(tmp_path / "parts"))


def test_another_vocabulary_is_refused(toy_text: Path, toy_run: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="another vocabulary"):
        tuned(toy_text, toy_run, tmp_path / "run", "data.merges=20")
    assert not (tmp_path / "run" / "result.json").exists()
    tensors = load_file(toy_run / "best.safetensors")
    tensors["embedding.weight"] = tensors["embedding.weight"][1:].clone()
    save_file(tensors, tmp_path / "short.safetensors")
    with pytest.raises(CheckpointError, match=r"has no vocabulary\.json beside it"):
        tuned(toy_text, tmp_path / "short.safetensors", tmp_path / "run1")
    shutil.copy(toy_run / "vocabulary.json", tmp_path)
    with pytest.raises(CheckpointError, match="does not fit the student"):
        tuned(toy_text, tmp_path / "short.safetensors", tmp_path / "run2")


def test_other_text_is_learned_in_the_pieces_of_the_start(
    toy_text: Path, toy_run: Path, tmp_path: Path
) -> None:
    other = write_toy(tmp_path / "text", seed=5)
    with pytest.raises(CheckpointError, match=r"take its own by data\.vocabulary = "):
        tuned(other, toy_run, tmp_path / "refused", "data.merges=20")
    pieces = f"data.vocabulary={toy_run}"
    result = tuned(other, toy_run, tmp_path / "run", "data.merges=20", pieces)
    assert result.bleu_last > 0
    same = [(run / "vocabulary.json").read_text() for run in (toy_run, tmp_path / "run")]
    assert same[0] == same[1]
    with pytest.raises(UsageError, match="and this text is to be de to en, cased"):
        tuned(other, toy_run, tmp_path / "cased", pieces, "data.lowercase=false")


def test_a_start_that_is_not_there_is_refused(toy_text: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape("neither a run's folder nor")):
        tuned(toy_text, tmp_path / "nobody", tmp_path / "run")


@pytest.mark.parametrize("name", ["focal", "l2t-loss", "mentornet"])
def test_methods_of_classes_are_refused_by_name(name: str, toy_text: Path) -> None:
    with pytest.raises(UsageError, match=f"method {name} cannot weigh sentence pairs"):
        toy(toy_text, f"method.name={name}")


def test_a_pass_has_every_pair_once_and_always_as_many_steps(toy_text: Path) -> None:
    config = toy(toy_text)
    task = Workshop(config, prepared(config), method_for(config.method)).task
    passes = [task.batches(number) for number in range(2)]
    assert len(passes[0]) == len(passes[1]) == task.steps_per_pass
    for batches in passes:
        assert sorted(np.concatenate([b.numpy() for b in batches])) == list(range(task.size))
    assert task.tokens(passes[0][0]) == int((task.batch(passes[0][0], 0)["target_out"] != 0).sum())


def test_a_batch_with_fewer_pairs_than_processes_is_refused_before_the_first_step(
    toy_text: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(translation, "world", lambda: 10_000)
    with pytest.raises(
        UsageError, match=r"fewer than the 10000 processes; change training\.max_tokens"
    ):
        train(toy(toy_text), tmp_path / "run", SilentProgress())
    assert not (tmp_path / "run").exists()


def test_another_seed_of_the_text_is_another_text(tmp_path: Path) -> None:
    a, b = (write_toy(tmp_path / str(seed), seed=seed) for seed in (0, 1))
    assert (a / "train.tsv").read_text() != (b / "train.tsv").read_text()
