r"""Learning to teach, data (Fan et al., ICLR 2018): a policy keeps or drops each sample of a batch.

Let s be the state of a sample and $\pi(\text{keep} \mid s) = \sigma(f_\omega(s))$. A whole training of
the student is one episode; its reward R says how few kept samples brought it to given accuracies on
the trusted set. REINFORCE moves ω along $(R - b)\,\nabla_\omega \sum_t \log\pi(a_t \mid s_t)$.

As in the authors' code (RL4Data): the state, both policies, the bias of 2 that keeps almost all at
first, the speed reward, the moving baseline b, decisions averaged in a batch and summed over
batches. Our choices:

- The budget. They allow 5,000 episodes, we take `episodes` of the full schedule, so a run costs
  1 + episodes plain ones. One reward for 10^5 decisions says little: on digits no parameter of the
  policy moved by more than 0.002 in ten episodes, so read a row of this method as *limited by its
  budget*, near to dropping 12 % at random. Their rate, halved every 50 episodes, sums to 0.02; ours
  is larger and constant, for the same sum over ten.
- Dropped samples weigh 0 in their batch, whose kept samples share the step, in place of waiting
  until the kept ones fill a batch. So the schedule counts steps, not kept samples, and batch
  normalisation sees the dropped ones too. A batch that is dropped whole gives no gradient.
- Accuracies to reach are shares of the best one of the first episode (theirs, for corrupted CIFAR,
  are 0.72, 0.76, 0.795, which is 0.906, 0.956, 1 of the last); they are crossed on the straight line
  between the ends of two epochs. One that is never reached counts as reached with all N samples,
  which gives 0, the least reward there is (theirs too).
- Where labels are sentences, the state is what of it needs no classes: log p per token, the rank of
  the loss, kept so far / N. Accuracies are those of tokens.
- The first episode sets these marks and b, and moves nothing. Logits of the policy start equal for
  all samples. No L2 penalty: theirs takes 2e-7 off ω in a batch.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.hashed_draws import random_bits
from reweigh.methods.base import Method, Setting, Trial
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Seen, Tap
from reweigh.teachers import Teacher
from reweigh.teachers.features import labels_of, margin
from reweigh.typing import Weights

_STREAM = 0x4B454550  # parts these draws from those of the augmentation under the same seed
_LEAST = -20.7  # log 1e-9, as low as log p_y goes in the state (RL4Data)


class KeepPolicy(nn.Module):
    """f: log-odds of keeping a sample of state s; linear, or one tanh layer of 12."""

    def __init__(self, size: int, kind: str, keep_bias: float) -> None:
        super().__init__()
        hidden = [nn.Linear(size, 12), nn.Tanh()] if kind == "mlp" else []
        last = nn.Linear(12 if hidden else size, 1)
        nn.init.zeros_(last.weight)
        nn.init.constant_(last.bias, keep_bias)
        self.net = nn.Sequential(*hidden, last)

    def forward(self, state: Tensor) -> Tensor:
        """(n, d) → (n,)."""
        return self.net(state).squeeze(1)


def log_probability(logits: Tensor, kept: Tensor) -> Tensor:
    r"""$\log\pi(a \mid s)$ of decisions already taken, (n,)."""
    return -F.binary_cross_entropy_with_logits(logits, kept.to(logits.dtype), reduction="none")


class Filter(Teacher):
    """Draws keep or drop for every sample; while learning, gathers the score in the policy's `.grad`.

    The draw is a hash of (seed, step, sample), so a run that is taken up again draws alike.
    """

    meta_learned = False
    judges_batch = True

    def __init__(
        self, policy: KeepPolicy, layer: str | None, *, steps: int, seed: int, learning: bool
    ) -> None:
        super().__init__()
        self.taps = (Tap(layer, "output"),) if layer is not None else ()
        self.policy, self.learning = policy, learning
        self.steps, self.seed = steps, seed
        self.register_buffer("counts", torch.zeros(3, dtype=torch.int64))
        self.counts: Tensor  # samples so far: shown, predicted as labelled, kept
        self.kept = torch.ones(0, dtype=torch.bool)  # of the present batch

    def notice(self, seen: Seen) -> None:
        """Decide over the batch, then count it."""
        state = self.state(seen)
        with torch.enable_grad():
            f = self.policy(state.to(next(self.policy.parameters()).dtype))  # (n,)
            self.kept = self._uniform(seen) < f.detach().sigmoid()
            if self.learning:
                log_probability(f, self.kept).mean().backward()
        right, kept = self._right(seen), self.kept.sum()
        self.counts += torch.stack([torch.ones_like(self.kept).sum(), right, kept])

    def forward(self, seen: Seen) -> Weights:
        """1 for kept, 0 for dropped samples, (n,)."""
        return self.kept.to(seen.losses.dtype)

    def state(self, seen: Seen) -> Tensor:
        """p, log p_y, margin, rank of the loss / n, mean accuracy so far, kept so far / N: (n, C + 5).

        Without classes: log p per token, rank of the loss / n, kept so far / N: (n, 3).
        """
        losses, n = seen.losses, len(seen.losses)
        rank = losses.argsort().argsort()[:, None].to(losses.dtype) / n  # (n, 1)
        _, right, kept = self.counts.to(losses.dtype) / self.counts[0].clamp_min(1)
        so_far = torch.stack([right, kept * seen.progress.share]).expand(n, 2)
        if not self.taps:
            return torch.cat([(-losses[:, None]).clamp_min(_LEAST), rank, so_far[:, 1:]], 1)
        logits, y = self._logits(seen), labels_of(seen)
        log_p = logits.log_softmax(1)  # (n, C)
        own = log_p.gather(1, y[:, None]).clamp_min(_LEAST)  # (n, 1)
        return torch.cat([log_p.exp(), own, margin(logits, y), rank, so_far], 1)

    def _right(self, seen: Seen) -> Tensor:
        """How many of the batch are predicted as labelled, (); 0 where labels are sentences."""
        if not self.taps:
            return self.counts.new_zeros(())
        return (self._logits(seen).argmax(1) == labels_of(seen)).sum()

    def _logits(self, seen: Seen) -> Tensor:
        return seen.states[self.taps[0].key].to(seen.losses.dtype)  # (n, C)

    def _uniform(self, seen: Seen) -> Tensor:
        """One number in [0, 1) for each sample, (n,)."""
        assert seen.ids is not None
        step = round(seen.progress.share * self.steps)
        return (random_bits(seen.ids, self.seed ^ _STREAM, step) & 0xFFFFFF) / 2**24


def samples_until(history: list[tuple[int, float]], accuracy: float) -> float | None:
    """Samples used when the accuracy is first reached; None if it never is.

    `history` has samples used and accuracy after each epoch; before the first both are 0.
    """
    before, low = 0, 0.0
    for used, reached in history:
        if reached >= accuracy:
            way = (accuracy - low) / (reached - low) if reached > low else 1.0
            return before + way * (used - before)
        before, low = used, reached
    return None


def speed_reward(history: list[tuple[int, float]], marks: list[float], total: int) -> float:
    r"""$R = -\sum_i w_i \log(n_i / N)$, n_i the samples until mark i, w ∝ 1, 2, 3 …, Σw = 1."""
    reward = 0.0
    for i, mark in enumerate(marks):
        n = samples_until(history, mark)
        used = total if n is None else max(n, 1.0)
        weight = 2 * (i + 1) / (len(marks) * (len(marks) + 1))
        reward -= weight * math.log(used / total)
    return reward


class Reinforce:
    """Policy gradient with a moving baseline: b ← decay·b + (1 − decay)·R."""

    def __init__(self, policy: nn.Module, *, lr: float, baseline: float, decay: float) -> None:
        self.policy, self.lr = policy, lr
        self.baseline, self.decay = baseline, decay
        policy.zero_grad()

    @torch.no_grad()
    def update(self, reward: float) -> None:
        """ω ← ω + lr·(R − b)·score, the score being what the episode left in `.grad`."""
        for p in self.policy.parameters():
            if p.grad is not None:
                p.add_(p.grad, alpha=self.lr * (reward - self.baseline))
        self.policy.zero_grad()
        self.baseline = self.decay * self.baseline + (1 - self.decay) * reward


class L2TData(Method):
    """`episodes` trial trainings teach the policy; the run itself follows it unchanged."""

    policy: KeepPolicy | None = None
    learner: Reinforce | None = None
    marks: tuple[float, ...] = ()
    total = 0  # N: samples shown in a training, kept or not
    episode = 0
    learning = False

    def prepare(self, trial: Trial) -> None:
        """REINFORCE over whole trainings of fresh students."""
        self.learning = True
        while self.episode < max(1, self.config.episodes):
            self._learn(trial(self.episode))
            self.episode += 1
        self.learning = False

    def _learn(self, history: list[tuple[int, float]]) -> None:
        """The first episode sets marks and baseline, each other one moves the policy."""
        if self.learner is not None:
            self.learner.update(speed_reward(history, list(self.marks), self.total))
            return
        self.total = int(self.filter.counts[0])
        best = max(accuracy for _, accuracy in history)
        self.marks = tuple(share * best for share in self.config.thresholds)
        self.learner = self._reinforce(speed_reward(history, list(self.marks), self.total))

    def _reinforce(self, baseline: float) -> Reinforce:
        assert self.policy is not None
        c = self.config
        return Reinforce(self.policy, lr=c.teacher_lr, baseline=baseline, decay=c.baseline_decay)

    def state_dict(self) -> dict[str, Any]:
        """The policy, the score of the episode under way, and what REINFORCE remembers."""
        if self.policy is None:
            return {}
        return {
            "policy": self.policy.state_dict(),
            "score": [p.grad for p in self.policy.parameters()],
            "baseline": None if self.learner is None else self.learner.baseline,
            "marks": list(self.marks),
            "total": self.total,
            "episode": self.episode,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        size = state["policy"]["net.0.weight"].shape[1]
        self.policy = KeepPolicy(size, self.config.policy, self.config.keep_bias)
        self.policy.load_state_dict(state["policy"])
        if state["baseline"] is not None:
            self.learner = self._reinforce(state["baseline"])
        for p, score in zip(self.policy.parameters(), state["score"], strict=True):
            p.grad = None if score is None else score.to(p.device)
        self.marks, self.total = tuple(state["marks"]), state["total"]
        self.episode = state["episode"]

    def reweigher(self, setting: Setting) -> Reweigher:
        """Training under the present policy, which all students of this method share."""
        if self.policy is None:
            with setting.drawing():
                size = 3 if setting.num_classes is None else setting.num_classes + 5
                self.policy = KeepPolicy(size, self.config.policy, self.config.keep_bias)
        self.filter = Filter(
            self.policy,
            None if setting.num_classes is None else setting.layers["I0"],
            steps=setting.steps,
            seed=setting.seed,
            learning=self.learning,
        )
        return setting.reweigher(self.filter)
