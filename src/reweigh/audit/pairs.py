r"""The audit of a translation run: which sentence pairs are hardly translations of each other.

Two witnesses are asked, where a label's `quality` rests on the student alone: the teacher, by the rank
r of a pair's mean weight over the last epochs, and the student, by the probability of a target token,
$p_i = e^{-\ell_i}$ with ℓ the mean token loss: $q_i = (r_i + p_i) / 2$, and $q_i = p_i$ where nobody
gave weights. There are no classes to count confident samples in, so how many pairs are wrong is not
estimated: the table is a ranking.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from reweigh import signals
from reweigh.audit.detection import Ranking, ranking
from reweigh.audit.opened import judge_of, opened
from reweigh.audit.run import of_the_run
from reweigh.audit.weights import unweighed, weight_or_nan, weight_ranks, weights_of
from reweigh.config import TranslationConfig
from reweigh.errors import DataError
from reweigh.run_files import student_file
from reweigh.text.codec import Codec
from reweigh.text.corpus import Corpus
from reweigh.text.pairs import Pairs
from reweigh.text.prepare import training_text
from reweigh.text.problem import TranslationProblem
from reweigh.text.token_batches import in_order
from reweigh.training.tasks.translation import Translation

SHOWN = 10
"""Pairs in the summary, the most suspicious first."""


@dataclass(frozen=True)
class PairAudit:
    """What is to be said of every training pair, in the order of the training set."""

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "index", "id", "source", "target", "label_quality", "weight", "loss",
    )  # fmt: skip
    """Of the table."""

    corpus: Corpus
    codec: Codec
    text: Pairs | None
    """(n,) as the file has them; None where it is cut into words already."""
    weight: NDArray[np.float32]  # (n,), mean of the last epochs, 1 on average; NaN without
    loss: NDArray[np.float32]  # (n,), of a target token
    quality: NDArray[np.float32]  # (n,)
    changed: NDArray[np.bool_] | None  # (n,), by planted noise
    cautions: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.corpus)

    def columns(self, part: slice) -> dict[str, NDArray[Any]]:
        """Columns of the table for some pairs, by name and in order."""
        positions = range(len(self))[part]
        sentences = np.array([self.sentences(k) for k in positions], object).reshape(-1, 2)
        values = (
            np.asarray(positions), self.corpus.ids[part], *sentences.T,
            self.quality[part], self.weight[part], self.loss[part],
        )  # fmt: skip
        return dict(zip(self.COLUMNS, values, strict=True))

    def sentences(self, k: int) -> tuple[str, str]:
        """Source and target of the pair at position k, as the file has them.

        Where noise was planted, or the file was cut into words already: what the student reads, put
        together again.
        """
        if self.text is not None and not (self.changed is not None and self.changed[k]):
            return self.text.source[k], self.text.target[k]
        words = self.codec.decode_words(self.corpus.source[k].tolist())
        return self.codec.form.source_sentence(words), self.codec.decode(self.corpus.target[k])

    def worst(self, most: int) -> list[dict[str, Any]]:
        """The most suspicious pairs, the worst first: a row of the table each, None for NaN."""
        ranked = np.argsort(self.quality, kind="stable")[:most].tolist()
        rows = [
            {k: v.tolist()[0] for k, v in self.columns(slice(i, i + 1)).items()} for i in ranked
        ]
        return [{k: None if v != v else v for k, v in row.items()} for row in rows]

    @property
    def detection(self) -> Ranking | None:
        """How well planted noise was found; None where none was planted."""
        return None if self.changed is None else ranking(self.changed, self.quality)

    def summary(self) -> dict[str, Any]:
        """For programs: the worst pairs, and how well noise was found where it was planted."""
        return {
            "pairs": len(self),
            "cautions": list(self.cautions),
            "worst": self.worst(SHOWN),
            "detection": self.detection,
        }


def audit_pairs(folder: Path) -> PairAudit:
    """Audit the training pairs of the run in `folder`; one pass of its student over them."""
    config, problem = opened(folder, TranslationConfig)
    assert isinstance(problem, TranslationProblem)
    task = judge_of(config, problem)
    assert isinstance(task, Translation)
    task.begin_from(student_file(folder, last=False))
    weights = weights_of(folder, config, problem)
    loss = pair_losses(task)
    p = np.exp(-loss)
    n = len(problem.train)
    if weights is not None and weights.shape[1] != n:
        raise DataError(f"{folder} weighed other pairs than {config.data.name} gives; train again.")
    weight = weight_or_nan(weights, n)
    return PairAudit(
        corpus=problem.train,
        codec=problem.codec,
        text=_as_written(config, problem),
        weight=weight,
        loss=loss,
        quality=p if weights is None else ((weight_ranks(weights) + p) / 2).astype(np.float32),
        changed=problem.changed,
        cautions=tuple(dict.fromkeys((*problem.cautions, *unweighed(weight), *of_the_run(folder)))),
    )


def _as_written(config: TranslationConfig, problem: TranslationProblem) -> Pairs | None:
    """The training pairs in the file's own words, unless these are tokens, too."""
    if config.data.tokenised:
        return None
    text = training_text(Translation.spec(config))
    return text.take(np.searchsorted(text.ids, problem.train.ids))


@torch.no_grad()
def pair_losses(task: Translation) -> NDArray[np.float32]:
    """Mean token loss −log p of every training pair, not smoothed, (n,), in evaluation mode."""
    task.student.eval()
    losses = np.empty(task.size, np.float32)
    for positions in in_order(task.train, task.config.training.max_tokens):
        signals.check()
        batch = task.batch(positions, 0)
        losses[positions.numpy()] = task.losses(task.student, batch, 0.0).float().cpu().numpy()
    return losses
