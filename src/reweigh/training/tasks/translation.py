"""Sentence pairs: a Transformer, mean token loss per pair, BLEU."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from reweigh.config import TranslationConfig
from reweigh.distributed.group import world
from reweigh.errors import CheckpointError, UsageError
from reweigh.methods import Method
from reweigh.models.token_losses import label_smoothed_losses
from reweigh.models.transformer import PRESETS, Transformer
from reweigh.run_files import SAMPLES
from reweigh.teachers import Feature, InternalState
from reweigh.teachers.features import Progressed
from reweigh.text.codec import VOCABULARY, Codec
from reweigh.text.prepare import prepare
from reweigh.text.problem import TranslationProblem
from reweigh.text.spec import TextSpec
from reweigh.text.token_batches import token_batches
from reweigh.training.pool import trusted_positions
from reweigh.training.result import BleuResult
from reweigh.training.tasks.base import Standing, Task, path_or_none, trusted_ones
from reweigh.training.translating import Scores, held_out_loss, score_tests
from reweigh.typing import Batch

LAYERS = {"I0": "decoder_pool", "I1": "encoder_pool", "M0": "target_pool"}


class Translation(Task):
    """A translator with its pairs."""

    Result = BleuResult
    layers = LAYERS

    def __init__(
        self,
        config: TranslationConfig,
        problem: TranslationProblem,
        method: Method,
        device: torch.device,
    ) -> None:
        self.config, self.device, self.codec = config, device, problem.codec
        chosen = method.problem(problem)
        self.ids, self.mixed_in = chosen.train.ids, chosen.mixed_in
        self.train, self.trusted, self.tests = chosen.train, problem.trusted, problem.tests
        self.size = len(self.train)
        self.target_lengths = self.train.lengths()[1]  # (N,)
        batches = self.batches(0)
        self.steps_per_pass = len(batches)
        self.averaged = config.training.average or 0
        _refuse_small(min(map(len, batches)), config.training.max_tokens)
        most = config.training.max_tokens
        self.steps_per_epoch = len(token_batches(problem.train, most, config.seed, 0))
        changed = chosen.changed
        self.right = None if changed is None else torch.tensor(~changed, device=device)
        self.student = build_translator(config, len(problem.vocabulary)).to(device)

    @staticmethod
    def spec(config: TranslationConfig) -> TextSpec:
        """The data section and the seed, as the text package wants them."""
        data = config.data.model_dump()
        name, folder, pieces, seed = map(data.pop, ("name", "dir", "vocabulary", "seed"))
        return TextSpec(
            data=name,
            data_dir=path_or_none(folder),
            **data,
            vocabulary=path_or_none(pieces),
            seed=config.seed if seed is None else seed,
        )

    @staticmethod
    def prepare(spec: TextSpec) -> TranslationProblem:
        """Sentence pairs."""
        return prepare(spec)

    @staticmethod
    def describe(problem: TranslationProblem, chosen: TranslationProblem, folder: Path) -> None:
        """vocabulary.json, to translate with; samples.npz: each position's line and its noise."""
        problem.codec.save(folder / VOCABULARY)
        changed = np.array([]) if chosen.changed is None else chosen.changed
        np.savez(
            folder / SAMPLES,
            ids=chosen.train.ids,
            changed=changed,
            trusted=trusted_ones(len(chosen.train), chosen.mixed_in),
        )

    def begin_from(self, weights: Path) -> None:
        """Go on from a student that was trained with the same vocabulary."""
        own = weights.with_name(VOCABULARY)
        if not own.is_file():
            raise CheckpointError(
                f"{weights} has no {VOCABULARY} beside it, without which nobody knows what its numbers "
                "stand for: copy both from the run."
            )
        if Codec.load(own).to_json() != self.codec.to_json():
            raise CheckpointError(
                f"{weights} was trained with another vocabulary than this text gives: take its own by "
                f"data.vocabulary = {str(own)!r}, or the same text, languages, merges, data.seed and "
                "train_limit."
            )
        super().begin_from(weights)

    def batches(self, number: int) -> list[Tensor]:
        """Pairs of similar lengths, as many as fit into max_tokens."""
        return token_batches(self.train, self.config.training.max_tokens, self.config.seed, number)

    def batch(self, positions: Tensor, number: int) -> dict[str, Tensor]:
        """source, target_in and target_out, padded."""
        return self.train.batch(positions, self.device)

    def tokens(self, positions: Tensor) -> int:
        """Of the targets, end marks included."""
        return int(self.target_lengths[positions.numpy()].sum())

    def per_sample_loss(self, student: nn.Module, batch: Batch) -> Tensor:
        """Label-smoothed mean token loss of each pair, (n,)."""
        return self.losses(student, batch, self.config.training.label_smoothing)

    def losses(self, student: nn.Module, batch: Batch, smoothing: float) -> Tensor:
        """The same at another smoothing, (n,)."""
        with self._precision():
            logits = student(batch)  # (n, T, V)
        return label_smoothed_losses(logits.float(), batch["target_out"], smoothing)

    def _precision(self) -> torch.autocast:
        on = self.config.training.bf16
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=on)

    def trusted_batch(self, update: int, size: int) -> dict[str, Tensor]:
        """The trusted pairs of one update of the teacher."""
        positions = trusted_positions(len(self.trusted), size, self.config.seed, update)
        return self.trusted.batch(positions, self.device)

    def all_trusted(self) -> dict[str, Tensor]:
        """All trusted pairs."""
        return self.trusted.batch(torch.arange(len(self.trusted)), self.device)

    def feature(self, name: str) -> Feature:
        """I0 decoder states, I1 encoder states, M0 target embeddings, all pooled; M1 progress."""
        if name == "M1":
            return Progressed()
        if name not in LAYERS:
            raise UsageError(
                f"A translator has no internal state {name}; it has I0, I1, M0 and M1."
            )
        return InternalState(self.student, LAYERS[name], side="output")

    def standing(self) -> Standing:
        """Mean loss of a trusted token, without smoothing, and how many tokens are right."""
        most = self.config.training.max_tokens
        with self._precision():
            loss, accuracy = held_out_loss(self.student, self.trusted, most, self.device)
        return Standing("loss", loss, accuracy, f"trusted loss {loss:.4f}")

    def score(self) -> Scores:
        """BLEU of each test set."""
        return score_tests(self.student, self.tests, self.codec, self.config.training, self.device)

    def result(
        self, common: dict[str, Any], last: Scores, best: Scores, trusted: Standing
    ) -> BleuResult:
        """Both BLEU scores of the last and the best epoch on every test set."""
        first = next(iter(self.tests))
        return BleuResult(
            **common,
            bleu_last=last[first].tokenised,
            bleu_best_by_trusted=best[first].tokenised,
            trusted_loss_last=trusted.value,
            tests={
                name: {
                    "last": [last[name].tokenised, last[name].detokenised],
                    "best_by_trusted": [best[name].tokenised, best[name].detokenised],
                }
                for name in self.tests
            },
            signature=last[first].signature,
        )

    def keep_answers(self, last: Scores, best: Scores, folder: Path) -> None:
        """Nothing: no translation is simply right or wrong."""

    def counts(self) -> dict[str, int]:
        """Pairs in each part."""
        tests = {name: len(test) for name, test in self.tests.items()}
        return {"train": self.size, "trusted": len(self.trusted), **tests}


def _refuse_small(pairs: int, max_tokens: int) -> None:
    """The cut into batches is the same in every pass, so a small one is met before the first step."""
    if pairs < world():
        raise UsageError(
            f"Batches of {max_tokens} tokens leave one of {pairs} pairs, fewer than the {world()} "
            "processes; change training.max_tokens a little, or raise it."
        )


def build_translator(config: TranslationConfig, vocabulary_size: int) -> Transformer:
    """A fresh Transformer of the settings, on the CPU."""
    c = config.student
    sizes = {**PRESETS[c.model], **c.options}
    known = {"width", "inner", "heads", "layers", "attention_dropout"}
    if unknown := sorted(set(sizes) - known):
        raise UsageError(
            f"student.options has no {unknown[0]!r}; a Transformer takes {', '.join(sorted(known))}."
        )
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(config.seed)
        return Transformer(vocabulary_size, dropout=c.dropout, **sizes)
