"""The paper's method: a teacher on the student's internal states, learned through its own steps.

"Learning to Reweight with Deep Interactions" (AAAI 2021): features I_0 and M_0, a linear teacher,
K = 20, B = 2. The interaction teacher is ours. The paper gives neither the teacher's optimiser nor
the size of the trusted batch; both are our choices and settings.
"""

import torch
from torch.optim import Optimizer

from reweigh.data.samples import Problem
from reweigh.errors import UsageError
from reweigh.methods.base import Method, Setting
from reweigh.methods.trusted_mixed import mixed
from reweigh.reweigher import Reweigher
from reweigh.teachers import (
    AgreementTeacher,
    Feature,
    InteractionTeacher,
    InternalState,
    LabelFeature,
    LinearTeacher,
    MLPTeacher,
    SurfaceFeatures,
    Teacher,
)


class Deep(Method):
    """Teacher linear | mlp | interaction, features I0–I3, M0, M1, and the paper's K and B."""

    def problem(self, problem: Problem) -> Problem:
        """With `trusted_share`, the trusted samples are training samples, too."""
        share, n, m = self.config.trusted_share, len(problem.train), len(problem.trusted)
        if not share:
            return problem
        return mixed(problem, copies=max(1, round(share * n / ((1 - share) * m))))

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
        """The teacher that the settings describe, on the student's device."""
        c = self.config
        device = next(setting.student.parameters()).device
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(setting.seed)
            if c.teacher == "interaction":
                extra = [self._feature(f, setting) for f in c.features if f not in ("I0", "M0")]
                teacher = InteractionTeacher(
                    setting.student,
                    layer=_layer(setting, "I0"),
                    num_classes=setting.num_classes,
                    extra=extra,
                )
            elif c.teacher == "agreement":
                teacher = AgreementTeacher(
                    setting.student,
                    layer=_layer(setting, "I0"),
                    num_classes=setting.num_classes,
                )
            else:
                features = [self._feature(f, setting) for f in c.features]
                hidden = c.hidden_layers if c.teacher == "mlp" else 0
                teacher = (
                    MLPTeacher(features, hidden_layers=hidden)
                    if hidden
                    else LinearTeacher(features)
                )
        return teacher.to(device)

    def _feature(self, name: str, setting: Setting) -> Feature:
        if name == "M0":
            return LabelFeature(setting.num_classes)
        if name == "M1":
            return SurfaceFeatures(_layer(setting, "I0"), setting.num_classes)
        side = "input" if name == "I0" else "output"
        return InternalState(setting.student, _layer(setting, name), side=side)

    def _optimizer(self, teacher: Teacher) -> Optimizer:
        c = self.config
        kind = torch.optim.Adam if c.teacher_optimizer == "adam" else torch.optim.SGD
        return kind(teacher.parameters(), lr=c.teacher_lr, weight_decay=c.teacher_weight_decay)


def _layer(setting: Setting, name: str) -> str:
    if name not in setting.layers:
        found = ", ".join(f"{k} = {v}" for k, v in setting.layers.items())
        raise UsageError(f"this student has no internal state {name}; it has {found}")
    return setting.layers[name]
