"""Everything a run needs, built from its settings: pools, student, optimizer, schedule, reweigher."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from reweigh.config import RunConfig
from reweigh.config.training import TrainingConfig
from reweigh.data.samples import Problem, Samples
from reweigh.errors import UsageError
from reweigh.methods import Method, Setting
from reweigh.models.build import build
from reweigh.models.layers import internal_layers
from reweigh.training.environment import devices
from reweigh.training.images import Normalisation
from reweigh.training.pool import Pool, batches_of, pool, trusted_positions
from reweigh.training.schedules import schedule
from reweigh.typing import Batch

Forward = Callable[[nn.Module, Tensor], Tensor]


class Workshop:
    """One student with its data and its reweigher, ready to be trained."""

    def __init__(self, config: RunConfig, problem: Problem, method: Method) -> None:
        self.config, self.seed = config, config.seed
        t = config.training
        self.device = choose_device(config.device)
        chosen = method.problem(problem)
        self._place_pools(problem, chosen)
        self.passes = batches_of(len(self.train), t.batch_size)
        self.steps_per_epoch = batches_of(len(problem.train), t.batch_size)
        self.steps = t.epochs * self.steps_per_epoch
        self.forward = forward_under(t.bf16, self.device)
        self.student = self._student(len(problem.class_names))
        self.optimizer = optimizer_for(self.student, t)
        self.scheduler = schedule(
            t.schedule, self.optimizer, t.epochs, self.steps_per_epoch, t.warmup_epochs
        )
        self.right = right_labels(chosen, self.device)
        self.doubtful = min(len(problem.train), len(chosen.train))
        """The first so many training samples are those whose labels are in doubt."""
        self.reweigher = method.reweigher(self._setting(len(problem.class_names)))

    def _place_pools(self, problem: Problem, chosen: Problem) -> None:
        t = self.config.training
        image = problem.kind == "image"
        statistics = Normalisation.of(problem.train.inputs) if image else None

        def placed(samples: Samples, augment: str) -> Pool:
            return pool(
                samples,
                statistics,
                device=self.device,
                augment=augment,
                seed=self.seed,
                channels_last=t.channels_last,
            )

        self.train = placed(chosen.train, t.augment)
        self.trusted = placed(problem.trusted, t.augment)
        self.test = placed(problem.test, "none")

    def _student(self, num_classes: int) -> nn.Module:
        c = self.config.student
        shape = self.train.inputs.shape
        name = default_model(shape) if c.model == "auto" else c.model
        model = build(name, shape, num_classes, seed=self.seed, **c.options)
        if self.config.training.channels_last:
            model = model.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue] (missing in torch's stubs)
        return model.to(self.device)

    def _setting(self, num_classes: int) -> Setting:
        sample, _ = self.train.batch(torch.zeros(1, dtype=torch.int64), train=False)
        return Setting(
            student=self.student,
            optimizer=self.optimizer,
            per_sample_loss=self.per_sample_loss,
            trusted=self.trusted_batch,
            num_classes=num_classes,
            layers=internal_layers(self.student, sample),
            steps=self.steps,
            epochs=self.config.training.epochs,
            right=self.right,
            seed=self.seed,
            clip_norm=self.config.training.clip_norm,
        )

    def per_sample_loss(self, student: nn.Module, batch: Batch) -> Tensor:
        """Cross-entropy of each sample, (n,)."""
        x, y = batch
        return F.cross_entropy(self.forward(student, x), y, reduction="none")

    def trusted_batch(self, update: int, size: int) -> Batch:
        """The trusted batch of one update of the teacher, augmented like training samples."""
        positions = trusted_positions(len(self.trusted), size, self.seed, update)
        return self.trusted.batch(positions, epoch=update, train=True)


def choose_device(name: str) -> torch.device:
    """`auto` takes the first GPU, else the CPU."""
    if name == "auto":
        return torch.accelerator.current_accelerator() or torch.device("cpu")
    found = devices()
    if not any(device == name or device.startswith(f"{name}:") for device in found):
        raise UsageError(
            f"device = {name!r}, but torch can use only {', '.join(found)} here; "
            "give one of these, or auto"
        )
    return torch.device(name)


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


def optimizer_for(student: nn.Module, t: TrainingConfig) -> Optimizer:
    """The optimizer that the settings name."""
    params = student.parameters()
    if t.optimizer == "sgd":
        return SGD(
            params, t.lr, momentum=t.momentum, weight_decay=t.weight_decay, nesterov=t.nesterov
        )
    kind = Adam if t.optimizer == "adam" else AdamW
    return kind(params, t.lr, weight_decay=t.weight_decay)


def right_labels(problem: Problem, device: torch.device) -> Tensor | None:
    """(N,) bool by position in the training set, where the true labels are known."""
    if problem.true_labels is None:
        return None
    return torch.tensor(problem.train.labels == problem.true_labels, device=device)
