"""Classes of images and of table rows: cross-entropy, the error, labels that may be wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.config import RunConfig
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import plain_values
from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.samples import Problem, Samples
from reweigh.distributed import sync_batch_norm
from reweigh.errors import UsageError
from reweigh.methods import Method
from reweigh.models.build import build
from reweigh.models.layers import internal_layers
from reweigh.run_files import SAMPLES
from reweigh.student.batch import moved_to
from reweigh.teachers import Feature, InternalState, LabelFeature, SurfaceFeatures
from reweigh.training.answers import Answers
from reweigh.training.evaluate import Errors, Forward, error, errors
from reweigh.training.images import Normalisation
from reweigh.training.inputs import Inputs
from reweigh.training.pool import Pool, batches_of, order, pool, split, trusted_positions
from reweigh.training.result import ErrorResult
from reweigh.training.tasks.base import Standing, Task, fingerprint, path_or_none, trusted_ones
from reweigh.typing import Batch


class Classification(Task):
    """A classifier with its pools of labelled samples."""

    Result = ErrorResult

    def __init__(
        self, config: RunConfig, problem: Problem, method: Method, device: torch.device
    ) -> None:
        self.config, self.device = config, device
        chosen, inputs = method.problem(problem), Inputs.of(problem)
        self.ids, self.mixed_in = chosen.train.ids, chosen.mixed_in
        self.test_ids = problem.test.ids
        self._place_pools(problem, chosen, inputs.normalisation)
        batch_size = config.training.batch_size
        self.size, self.augmented = len(self.train), self.train.inputs.augmentation is not None
        self.steps_per_pass = batches_of(self.size, batch_size)
        self.steps_per_epoch = batches_of(len(problem.train), batch_size)
        self.class_names, self.num_classes = problem.class_names, len(problem.class_names)
        self.forward = forward_under(config.training.bf16, device)
        self.student = build_classifier(config, inputs).to(device)
        self.right = right_labels(chosen, device)
        sample, _ = self.train.batch(torch.zeros(1, dtype=torch.int64), train=False)
        self.layers = internal_layers(self.student, sample)

    @staticmethod
    def spec(config: RunConfig) -> DataSpec:
        """The data section, with the seed of the data, as the data package wants it."""
        data = config.data
        return DataSpec(
            data=data.name,
            data_dir=path_or_none(data.dir),
            label_column=data.label_column,
            ignore=tuple(filter(None, map(str.strip, (data.ignore or "").split(",")))),
            image_size=data.image_size,
            labels=path_or_none(data.labels),
            true_labels=data.true_labels,
            drop=path_or_none(data.drop),
            trusted=path_or_none(data.trusted),
            trusted_per_class=data.trusted_per_class,
            noise=data.noise,
            imbalance=data.imbalance,
            train_limit=data.train_limit,
            test_limit=data.test_limit,
            seed=config.seed if data.seed is None else data.seed,
            id_column=data.id_column,
            test=path_or_none(data.test),
        )

    @staticmethod
    def prepare(spec: DataSpec) -> Problem:
        """Samples with labels."""
        return prepare(spec)

    @staticmethod
    def describe(problem: Problem, chosen: Problem, folder: Path) -> None:
        """samples.npz: each position's id and its labels; inputs.json: what the student takes."""
        Inputs.of(problem).save(folder)
        true = np.array([]) if chosen.true_labels is None else chosen.true_labels
        np.savez(
            folder / SAMPLES,
            ids=chosen.train.ids,
            labels=chosen.train.labels,
            true_labels=true,
            trusted=trusted_ones(len(chosen.train), chosen.mixed_in),
            fingerprint=np.array(fingerprint(problem)),
            class_names=np.array(list(problem.class_names)),
        )

    def _place_pools(
        self, problem: Problem, chosen: Problem, statistics: Normalisation | None
    ) -> None:
        t = self.config.training

        def placed(samples: Samples, augment: str) -> Pool:
            return pool(
                samples,
                statistics,
                device=self.device,
                augment=augment,
                seed=self.config.seed,
                channels_last=t.channels_last,
            )

        self.train = placed(chosen.train, t.augment)
        self.trusted = placed(problem.trusted, t.augment)
        self.test = placed(problem.test, "none")

    def batches(self, number: int) -> list[Tensor]:
        """A permutation of the training set, cut into nearly equal batches."""
        positions = order(self.size, self.config.seed, "train", number)
        return split(positions, self.config.training.batch_size)

    def batch(self, positions: Tensor, number: int) -> tuple[Tensor, ...]:
        """(x, y), augmented for this pass; with trusted samples in the stream also which they are."""
        x, y = self.train.batch(positions, number, train=True)
        if not self.mixed_in:
            return x, y
        return x, y, moved_to(positions, y.device) >= self.doubtful

    def logits(self, student: nn.Module, batch: Batch) -> Tensor:
        """(n, C) in float32."""
        return self.forward(student, batch[0])

    def per_sample_loss(self, student: nn.Module, batch: Batch) -> Tensor:
        """Cross-entropy of each sample, (n,)."""
        return F.cross_entropy(self.logits(student, batch), batch[1], reduction="none")

    def trusted_batch(self, update: int, size: int) -> tuple[Tensor, Tensor]:
        """The trusted batch of one update of the teacher, augmented like training samples."""
        positions = trusted_positions(len(self.trusted), size, self.config.seed, update)
        return self.trusted.batch(positions, epoch=update, train=True)

    def all_trusted(self) -> tuple[Tensor, Tensor]:
        """The whole trusted set, not augmented."""
        return self.trusted.batch(torch.arange(len(self.trusted)), train=False)

    def feature(self, name: str) -> Feature:
        """I0 input of the last layer, I1–I3 pooled maps, M0 label, M1 progress."""
        return class_feature(name, self.student, self.layers, len(self.class_names))

    def standing(self) -> Standing:
        """The error on the trusted set."""
        wrong = error(self.student, self.trusted, self.forward)
        seen = " (trained on)" if trains_on_trusted(plain_values(self.config.method)) else ""
        return Standing("error", wrong, 1 - wrong, f"trusted error {wrong:.2%}{seen}")

    def score(self) -> Errors:
        """The error on the test set, and on its classes."""
        return errors(self.student, self.test, self.forward, len(self.class_names))

    def result(
        self, common: dict[str, Any], last: Errors, best: Errors, trusted: Standing
    ) -> ErrorResult:
        """Errors of the last and the best epoch."""
        return ErrorResult(
            **common,
            test_error_last=last.of_all,
            test_error_best_by_trusted=best.of_all,
            trusted_error_last=trusted.value,
            test_error_per_class=last.per_class,
            test_samples=len(self.test),
        )

    def keep_answers(self, last: Errors, best: Errors, folder: Path) -> None:
        """test.npz, by which runs on the same test samples are compared sample by sample."""
        classes = (self.test.labels, last.predicted, best.predicted)
        Answers(self.test_ids, *(part.cpu().numpy() for part in classes)).save(folder)

    def counts(self) -> dict[str, int]:
        """Samples in each part; a stream that repeats trusted ones is told apart from `train`."""
        parts = {"train": self.doubtful, "trusted": len(self.trusted), "test": len(self.test)}
        return parts | ({"trusted in the stream": self.mixed_in} if self.mixed_in else {})


def class_feature(
    name: str, student: nn.Module, layers: dict[str, str], num_classes: int
) -> Feature:
    """A feature by the paper's name: I0 … I3 of the student's layers, M0, M1."""
    if name == "M0":
        return LabelFeature(num_classes)
    layer = "I0" if name == "M1" else name
    if layer not in layers:
        found = ", ".join(f"{k} = {v}" for k, v in layers.items())
        raise UsageError(f"This student has no internal state {layer}; it has {found}.")
    if name == "M1":
        return SurfaceFeatures(layers[layer], num_classes)
    return InternalState(student, layers[layer], side="input" if name == "I0" else "output")


def build_classifier(config: RunConfig, inputs: Inputs) -> nn.Module:
    """The student of these settings, untrained, for such samples."""
    c, t = config.student, config.training
    *rest, channels = inputs.shape
    shape = (channels, *rest)  # as models are built for: (C, H, W) or (d,)
    name = default_model(shape) if c.model == "auto" else c.model
    model = build(name, shape, len(inputs.class_names), seed=config.seed, **c.options)
    if t.sync_batch_norm:
        model = sync_batch_norm(model)
    if t.channels_last:
        model = model.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue] (missing in torch's stubs)
    return model


def default_model(shape: tuple[int, ...]) -> str:
    """A student that fits the samples: mlp for tables, cnn for grey, ResNet-20 for colour."""
    if len(shape) != 3:
        return "mlp"
    return "cnn" if shape[0] == 1 else "resnet20"


def forward_under(bf16: bool, device: torch.device) -> Forward:
    """Logits in float32, the student itself under bfloat16 autocast if asked."""

    def forward(student: nn.Module, x: Tensor) -> Tensor:
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16):
            return student(x).float()

    return forward


def right_labels(problem: Problem, device: torch.device) -> Tensor | None:
    """(N,) bool by position in the training set, where the true labels are known."""
    if problem.true_labels is None:
        return None
    return torch.tensor(problem.train.labels == problem.true_labels, device=device)
