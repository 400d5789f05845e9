"""Everything a run needs, built from its settings: task, optimizer, schedule, reweigher."""

import torch
from torch import nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from reweigh.config import RunConfig
from reweigh.config.training import TrainingConfig
from reweigh.errors import UsageError
from reweigh.methods import AnyProblem, Method, Setting
from reweigh.training.environment import devices
from reweigh.training.schedules import schedule
from reweigh.training.tasks import Task, kind_of


class Workshop:
    """One student with its task and its reweigher, ready to be trained."""

    def __init__(self, config: RunConfig, problem: AnyProblem, method: Method) -> None:
        self.config, t = config, config.training
        self.device = choose_device(config.device)
        self.task: Task = kind_of(config)(config, problem, method, self.device)
        self.student = self.task.student
        self.steps_per_epoch = self.task.steps_per_epoch
        self.steps = t.epochs * self.steps_per_epoch
        self.optimizer = optimizer_for(self.student, t)
        self.scheduler = schedule(
            t.schedule, self.optimizer, t.epochs, self.steps_per_epoch, t.warmup_epochs
        )
        self.reweigher = method.reweigher(self._setting())

    def _setting(self) -> Setting:
        return Setting(
            student=self.student,
            optimizer=self.optimizer,
            per_sample_loss=self.task.per_sample_loss,
            trusted=self.task.trusted_batch,
            num_classes=self.task.num_classes,
            layers=self.task.layers,
            feature=self.task.feature,
            steps=self.steps,
            epochs=self.config.training.epochs,
            right=self.task.right,
            seed=self.config.seed,
            clip_norm=self.config.training.clip_norm,
        )


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


def optimizer_for(student: nn.Module, t: TrainingConfig) -> Optimizer:
    """The optimizer that the settings name."""
    params = student.parameters()
    if t.optimizer == "sgd":
        return SGD(
            params, t.lr, momentum=t.momentum, weight_decay=t.weight_decay, nesterov=t.nesterov
        )
    kind = Adam if t.optimizer == "adam" else AdamW
    return kind(params, t.lr, weight_decay=t.weight_decay)
