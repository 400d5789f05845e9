r"""Beam search: the most likely translation among the `beam` best beginnings of each length.

A translation y of T words, `</s>` included, scores $\log p(y) / T^\alpha$. A sentence is done when
`beam` translations of it have ended, or when none of the beginnings can still beat the best: log p
only falls, so a beginning at s ends with at most $s / L^\alpha$, L being the longest allowed.
Sentences that are done leave the batch. Equal scores go to the beginning of higher rank, then
to the word of lower number, so that the answer depends on nothing else.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from reweigh.decoding.prefixes import CachedPrefixes, Prefixes
from reweigh.errors import UsageError
from reweigh.models.transformer import PAD, Transformer
from reweigh.student.evaluating import evaluating

START, END = 1, 2
NEVER = float("-inf")


@dataclass(frozen=True)
class Beam:
    """How to search: the settings of a translation, and what a report of it says."""

    beam: int = 5
    length_penalty: float = 1.0
    """α: above 1 favours long translations, 0 compares them by their probability."""
    longest: tuple[float, int] = (1.2, 10)
    """(a, b): no translation has more than a·S + b words, S being those of its source."""

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise UsageError(f"the beam must be at least 1, got {self.beam}")
        if not math.isfinite(self.length_penalty):
            raise UsageError(f"the length penalty must be a number, got {self.length_penalty}")
        if self.longest[0] < 0 or self.longest[1] < 1:
            raise UsageError(f"longest should be (a, b) with a >= 0 and b >= 1, got {self.longest}")

    def limits(self, source: Tensor) -> Tensor:
        """The longest translation of each source sentence, (n, s) → (n,)."""
        a, b = self.longest
        return ((source != PAD).sum(1) * a + b).long()


@dataclass(frozen=True)
class Translation:
    """The best one found: its words without `</s>`, and its score."""

    words: list[int]
    score: float


@torch.no_grad()
def translate(model: Transformer, source: Tensor, how: Beam | None = None) -> list[Translation]:
    """The best translation of each source sentence, (n, s) padded with 0, ending in `</s>`.

    The model translates in evaluation mode; each of its parts is left in the mode that it was in.
    """
    how = how or Beam()
    with evaluating(model):
        return search(CachedPrefixes(model, source), how.limits(source), how)


@torch.no_grad()
def search(prefixes: Prefixes, limits: Tensor, how: Beam) -> list[Translation]:
    """The best end of each of n empty beginnings; `limits` (n,) are their longest lengths."""
    best = _Best(limits, how)
    rows = torch.arange(len(limits), device=limits.device)  # (n,) sentences not yet done
    words = torch.full((len(limits), 1, 1), START, device=limits.device)  # (n, k, 1 + t)
    scores = torch.zeros(len(limits), 1, device=limits.device)  # (n, k)
    length = 0
    while len(rows):
        length += 1
        step = _log_p(prefixes.advance(words[..., -1]), limits[rows] <= length)  # (n, k, V)
        ranked = _top((scores[..., None] + step).flatten(1), 2 * how.beam)
        value, parent = ranked[0], ranked[1] // step.shape[2]  # (n, 2k)
        word = ranked[1] % step.shape[2]
        ends = word == END
        best.ended(rows, words, length, value[:, : how.beam], parent, ends)
        go_on = ends.byte().argsort(dim=1, stable=True)[:, : how.beam]  # (n, k) in order of rank
        scores = value.masked_fill(ends, NEVER).gather(1, go_on)
        stay = (~best.done(rows, scores[:, 0], length)).nonzero()[:, 0]  # (m,)
        parent, word = parent.gather(1, go_on)[stay], word.gather(1, go_on)[stay]
        words = torch.cat([words[stay[:, None], parent], word[..., None]], 2)
        scores, rows = scores[stay], rows[stay]
        if len(rows):
            prefixes.select(stay, parent)
    return best.translations()


class _Best:
    """The best ended translation of each sentence so far."""

    def __init__(self, limits: Tensor, how: Beam) -> None:
        n, longest = len(limits), int(limits.max()) if len(limits) else 0
        self.limits, self.alpha, self.enough = limits, how.length_penalty, how.beam
        self.words = torch.full((n, longest), PAD, device=limits.device)  # (n, L)
        self.lengths = torch.zeros_like(limits)
        self.scores = torch.full((n,), NEVER, device=limits.device)
        self.count = torch.zeros_like(limits)

    def ended(
        self, rows: Tensor, words: Tensor, length: int, value: Tensor, parent: Tensor, ends: Tensor
    ) -> None:
        """Note those among the first `beam` candidates (n, k) that end now."""
        ends = ends[:, : value.shape[1]] & (value > NEVER)
        self.count[rows] += ends.sum(1)
        found = value.masked_fill(~ends, NEVER) / length**self.alpha
        score, place = found.max(1)  # the first of equals, since ranks are strict
        better = (score > self.scores[rows]).nonzero()[:, 0]
        beginning = words[better, parent[better, place[better]], 1:]  # (m, t - 1)
        self.scores[rows[better]] = score[better]
        self.lengths[rows[better]] = length - 1
        self.words[rows[better], : length - 1] = beginning

    def done(self, rows: Tensor, live: Tensor, length: int) -> Tensor:
        """Whether sentences need no more words; `live` (n,) are their best beginnings."""
        last = self.limits[rows] if self.alpha >= 0 else length + 1
        beaten = live / last**self.alpha <= self.scores[rows]
        return beaten | (self.count[rows] >= self.enough) | (self.limits[rows] <= length)

    def translations(self) -> list[Translation]:
        """All of them, in the order of the sources."""
        told = zip(self.words.tolist(), self.lengths.tolist(), self.scores.tolist(), strict=True)
        return [Translation(words[:length], score) for words, length, score in told]


def _log_p(logits: Tensor, last: Tensor) -> Tensor:
    """log p of each next word, (n, k, V); where it must be the `last` (n,), of `</s>` only."""
    log_p = logits.float().log_softmax(-1)
    log_p[..., :END] = NEVER  # neither <pad> nor <s>
    if last.any():
        log_p[..., END + 1 :].masked_fill_(last[:, None, None], NEVER)
    return log_p


def _top(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k highest of each row and their places; of equals, the first, (n, m) → (n, k) twice.

    `topk` alone may take any of equals: where the last place is contested, a stable sort decides.
    """
    k = min(k, scores.shape[1])
    value, place = scores.topk(min(k + 1, scores.shape[1]))
    if ((value[:, k - 1] == value[:, -1]) & (value[:, -1] > NEVER)).any() and value.shape[1] > k:
        value, place = scores.sort(dim=1, descending=True, stable=True)
        return value[:, :k], place[:, :k]
    place = place[:, :k].sort(1).values
    value, order = scores.gather(1, place).sort(dim=1, descending=True, stable=True)
    return value, place.gather(1, order)
