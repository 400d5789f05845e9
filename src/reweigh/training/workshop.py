"""Everything a run needs, built from its settings: task, optimizer, schedule, reweigher."""

from pathlib import Path

from torch import nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from reweigh.config import Settings
from reweigh.config.training import OptimiserConfig
from reweigh.methods import AnyProblem, Method, Setting
from reweigh.methods.own import reweigher_of
from reweigh.training.environment import choose_device
from reweigh.training.schedules import schedule
from reweigh.training.tasks import Task, kind_of


class Workshop:
    """One student with its task and its reweigher, ready to be trained."""

    def __init__(
        self, config: Settings, problem: AnyProblem, method: Method, start: Path | None = None
    ) -> None:
        self.config, t = config, config.training
        self.device = choose_device(config.device)
        self.task: Task = kind_of(config)(config, problem, method, self.device)
        if start is not None:
            self.task.begin_from(start)
        self.student = self.task.student
        self.steps_per_epoch = self.task.steps_per_epoch
        self.epochs, self.steps = t.length(self.steps_per_epoch)
        self.optimizer = optimizer_for(self.student, t)
        self.scheduler = schedule(
            t.schedule,
            self.optimizer,
            self.epochs,
            self.steps_per_epoch,
            t.warmup_epochs,
            self.steps,
        )
        self.reweigher = reweigher_of(method, self._setting())

    def _setting(self) -> Setting:
        return Setting(
            student=self.student,
            optimizer=self.optimizer,
            per_sample_loss=self.task.per_sample_loss,
            trusted=self.task.trusted_batch,
            all_trusted=self.task.all_trusted,
            num_classes=self.task.num_classes,
            logits=self.task.logits,
            layers=self.task.layers,
            feature=self.task.feature,
            steps=self.steps,
            epoch=self.steps_per_epoch,
            repeats=0 if self.task.augmented else self.epochs,
            right=self.task.right,
            seed=self.config.seed,
            clip_norm=self.config.training.clip_norm,
        )


def optimizer_for(student: nn.Module, t: OptimiserConfig) -> Optimizer:
    """The optimizer that the settings name."""
    params = student.parameters()
    if t.optimizer == "sgd":
        return SGD(
            params, t.lr, momentum=t.momentum, weight_decay=t.weight_decay, nesterov=t.nesterov
        )
    kind = Adam if t.optimizer == "adam" else AdamW
    return kind(params, t.lr, betas=t.betas, weight_decay=t.weight_decay)
