"""How well an audit finds wrong labels, where somebody knows which are wrong."""

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray


class Ranking(TypedDict):
    """Scores of an order of the samples, each 1 at best."""

    wrong: int
    """Labels that are wrong in truth."""
    auroc: float
    """Probability that a wrong label has lower quality than a right one."""
    average_precision: float


class Detection(Ranking):
    """Scores of the audit as a detector of wrong labels, each 1 at best."""

    precision: float
    recall: float
    f1: float


def ranking(wrong: NDArray[np.bool_], quality: NDArray[np.float32]) -> Ranking | None:
    """How well low quality finds what is `wrong` (n,); None where all is right, or all wrong."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    if wrong.all() or not wrong.any():
        return None
    return Ranking(
        wrong=int(wrong.sum()),
        auroc=float(roc_auc_score(wrong, -quality)),
        average_precision=float(average_precision_score(wrong, -quality)),
    )


def detection(
    wrong: NDArray[np.bool_], quality: NDArray[np.float32], issues: NDArray[np.bool_]
) -> Detection | None:
    """Scores against the truth `wrong` (n,); None where all labels are right, or all wrong."""
    order = ranking(wrong, quality)
    if order is None:
        return None
    hits = int((wrong & issues).sum())
    precision, recall = hits / max(1, int(issues.sum())), hits / int(wrong.sum())
    return Detection(
        **order,
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / max(precision + recall, 1e-12),
    )
