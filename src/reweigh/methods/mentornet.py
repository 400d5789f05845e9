r"""MentorNet: a small network turns losses and progress into weights (Jiang et al., ICML 2018).

$$w_k = g(\ell_k,\ \ell_k - \lambda_t,\ t;\ \omega), \qquad
\lambda_t = d\,\lambda_{t-1} + (1 - d)\,\text{percentile}_p(\ell)$$

with the mentor g taught before it is needed, and never by the meta-gradient:

- `pd`: to imitate a predefined curriculum on synthetic losses (see `PredefinedLessons`);
- `dd`: from the trusted set (see `TrustedLessons`), after a burn-in with all weights 1; from then on
  the time t stands still for it, as in the published runs.

Early in the run many samples are dropped at random, later few (example dropout).

Where we deviate: weights are normalised by their sum. The published loss is Σwℓ/n with the weight
decay scaled by Σw/n, which is Σw/n times ours: the same direction, a shorter step. The moving
average starts at the first percentile, not at 0. Dropout is decided for each sample alone. The
mentor learns within the first step that needs it, so that its time counts as training time.
"""

import math

import torch
from torch import Tensor

from reweigh.config.methods import MentorNetConfig
from reweigh.distributed.group import same_as_first
from reweigh.hashed_draws import random_bits
from reweigh.methods.base import Method, Setting
from reweigh.methods.mentor_lessons import MentorLessons, PredefinedLessons, TrustedLessons
from reweigh.reweigher import Reweigher
from reweigh.student.moment import Moment
from reweigh.student.seen import Seen
from reweigh.student.student import Student
from reweigh.teachers import Teacher
from reweigh.teachers.mentor import EPOCHS, Mentor, educate
from reweigh.typing import Weights

_EARLY = 0.17  # share of the run with early dropout: "0.5 for 17 epochs" of 100
_DROPOUT_STREAM = 0x6D656E746F72  # keeps dropout's random bits apart from the augmentation's


class MentorTeacher(Teacher):
    """Asks the mentor, who is educated when burn-in ends."""

    meta_learned = False
    judges_batch = True

    def __init__(
        self, config: MentorNetConfig, lessons: MentorLessons, *, steps: int, begins: int, seed: int
    ) -> None:
        super().__init__()
        self.config, self.steps, self.begins, self.seed = config, steps, begins, seed
        self.lessons = lessons
        self.last_epoch = EPOCHS - 1 if config.kind == "pd" else begins * EPOCHS // steps
        self.mentor = Mentor()
        self.register_buffer("bar", torch.tensor(math.nan))
        self.bar: Tensor  # λ, ()

    def notice(self, seen: Seen) -> None:
        """Move the bar; before burn-in ends collect lessons, and at its end learn them."""
        percentile = torch.quantile(seen.losses.float(), self.config.loss_percentile)
        d = self.config.average_decay
        moved = d * self.bar + (1 - d) * percentile
        self.bar.copy_(torch.where(self.bar.isnan(), percentile, moved))
        step = self._step(seen)
        if step < self.begins:
            self.lessons.collect(step, self.bar)
        elif step == self.begins:
            self._learn()

    def forward(self, seen: Seen) -> Weights:
        """The mentor's weights, or 1 in burn-in; 0 for those that dropout takes, (n,)."""
        step, losses = self._step(seen), seen.losses.float()
        w = torch.ones_like(losses)
        if step >= self.begins:
            epoch = min(step * EPOCHS // self.steps, self.last_epoch)
            epochs = torch.full_like(losses, epoch, dtype=torch.int64)
            w = self.mentor(losses, losses - self.bar, epochs).sigmoid()
        return (w * self._kept(seen, step)).to(seen.losses.dtype)

    def _kept(self, seen: Seen, step: int) -> Tensor:
        """1 or 0, (n,): example dropout, by the seed, the step and the sample alone."""
        c = self.config
        rate = c.early_dropout if step < _EARLY * self.steps else c.late_dropout
        ids = seen.ids
        if ids is None:
            ids = torch.arange(len(seen.losses), device=seen.losses.device)
        draw = random_bits(ids, self.seed ^ _DROPOUT_STREAM, step) & 0xFFFFFF
        return (draw >= rate * (1 << 24)).float()

    def _learn(self) -> None:
        c = self.config
        same_as_first(*self.lessons.buffers())  # each process saw them through dropout of its own
        generator = torch.Generator(self.bar.device).manual_seed(self.seed)
        with torch.enable_grad():
            educate(
                self.mentor,
                lambda: self.lessons.draw(c.mentor_batch, self.last_epoch, generator),
                steps=c.mentor_steps,
                lr=c.mentor_lr,
            )

    def _step(self, seen: Seen) -> int:
        return round(seen.progress.share * self.steps)


class MentorNet(Method):
    """MentorNet, predefined or data-driven."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """A teacher whose mentor learns by itself."""
        c = self.config
        share = c.burn_in if c.burn_in is not None else (0.0 if c.kind == "pd" else 0.18)
        begins = max(round(share * setting.steps), int(c.kind == "dd"))
        lessons = PredefinedLessons() if c.kind == "pd" else self._trusted(setting, begins)
        with setting.drawing():
            teacher = MentorTeacher(
                c, lessons, steps=setting.steps, begins=begins, seed=setting.seed
            )
        return setting.reweigher(teacher)

    def _trusted(self, setting: Setting, begins: int) -> MentorLessons:
        batch, net = self.config.trusted_batch, setting.student
        student = Student(net, setting.per_sample_loss)

        def predict(number: int) -> tuple[Tensor, Tensor]:
            """In train mode, as training losses arise, and without a trace."""
            x, y = setting.trusted(number, batch)
            moment = Moment.now(net)
            with torch.no_grad(), moment.again(net), student.at({}, moment.fresh_buffers()):
                return setting.logits(net, (x, y)).log_softmax(1), y

        size = len(setting.trusted(0, batch)[1])
        return TrustedLessons(predict, begins=begins, size=size, num_classes=setting.classes)
