"""The paper's method: a teacher on the student's internal states, learned through its own steps.

"Learning to Reweight with Deep Interactions" (AAAI 2021): features I_0 and M_0, a linear teacher,
K = 20, B = 2. The interaction, agreement, margin and posterior teachers are ours. The paper gives neither
the teacher's optimiser nor the size of the trusted batch; both are our choices and settings.
"""

from pathlib import Path

import torch
from torch.optim import Optimizer

from reweigh.methods.base import Method, P, Setting
from reweigh.methods.own import own_teacher
from reweigh.methods.taking_over import take_over
from reweigh.methods.trusted_mixed import in_the_stream
from reweigh.reweigher import Reweigher
from reweigh.teachers import (
    AgreementTeacher,
    InteractionTeacher,
    LinearTeacher,
    MarginTeacher,
    MLPTeacher,
    PairTeacher,
    PosteriorTeacher,
    Teacher,
)
from reweigh.teachers.posterior import AVERAGE

SHORT_EPOCH, REPEATS = 20, 20
"""Steps of an epoch below which, and passes over samples that look the same from which on, the student's
average is not looked through: what is learned by heart it recalls too well (docs/tried.md). Our choice."""


class Deep(Method):
    """One of six teachers or the user's own, features I0–I3, M0, M1, K and B."""

    def problem(self, problem: P) -> P:
        """With `trusted_share`, the trusted samples are training samples, too."""
        share = self.config.trusted_share
        return in_the_stream(problem, share) if share else problem

    def reweigher(self, setting: Setting) -> Reweigher:
        """A teacher that learns every K steps through the last B."""
        c = self.config
        teacher = self.teacher(setting)
        return setting.reweigher(
            teacher,
            trusted=lambda update: setting.trusted(update, c.trusted_batch),
            every=c.every,
            through=c.through,
            deeper=c.deeper,
            trajectory=c.trajectory,
            teacher_optimizer=self._optimizer(teacher),
        )

    def teacher(self, setting: Setting) -> Teacher:
        """The teacher that the settings describe; another run's is frozen."""
        c = self.config
        with setting.drawing():
            teacher = self._built(setting)
        if c.teacher_from is not None:
            label_last = c.teacher == "linear" and c.features[-1] == "M0" and "M1" not in c.features
            take_over(teacher, Path(c.teacher_from), setting.num_classes if label_last else None)
        return teacher

    def _built(self, setting: Setting) -> Teacher:
        name = self.config.teacher
        if ":" in name:
            return own_teacher(name, setting)
        return self._paper_s(setting) if name in ("linear", "mlp") else self._ours(setting)

    def _paper_s(self, setting: Setting) -> Teacher:
        """Additive in its features."""
        c = self.config
        features = [setting.feature(name) for name in c.features]
        hidden = c.hidden_layers if c.teacher == "mlp" else 0
        return MLPTeacher(features, hidden_layers=hidden) if hidden else LinearTeacher(features)

    def _ours(self, setting: Setting) -> Teacher:
        """Features and label together."""
        c, student = self.config, setting.student
        if setting.num_classes is None:
            state, label = setting.feature("I0"), setting.feature("M0")
            return PairTeacher(state, label, agreement=c.teacher != "interaction")
        classes = setting.classes
        layer = setting.layers["I0"]
        if c.teacher == "posterior":
            return PosteriorTeacher(
                layer=layer,
                num_classes=classes,
                logits=setting.logits,
                trusted_in_stream=bool(c.trusted_share),
                average=self._average(setting),
            )
        if c.teacher == "margin":
            return MarginTeacher(student, layer=layer, num_classes=classes)
        if c.teacher == "agreement":
            return AgreementTeacher(student, layer=layer, num_classes=classes)
        extra = [setting.feature(name) for name in c.features if name not in ("I0", "M0")]
        return InteractionTeacher(student, layer=layer, num_classes=classes, extra=extra)

    def _average(self, setting: Setting) -> float:
        """As set; by itself 0 where students memorise, and with `deeper`: it gives no ∂w/∂θ."""
        if self.config.average is not None:
            return self.config.average
        memorises = setting.epoch < SHORT_EPOCH or setting.repeats >= REPEATS
        return 0.0 if self.config.deeper or memorises else AVERAGE

    def _optimizer(self, teacher: Teacher) -> Optimizer | None:
        c = self.config
        if not any(True for _ in teacher.parameters()):  # the user's own, a fixed rule
            return None
        kind = torch.optim.Adam if c.teacher_optimizer == "adam" else torch.optim.SGD
        return kind(teacher.parameters(), lr=c.teacher_lr, weight_decay=c.teacher_weight_decay)
