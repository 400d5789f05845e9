"""BLEU on IWSLT'14 German–English, clean and noisy: fine-tuning a trained Transformer.

Adam first, until it converges; then momentum SGD at 1e-3 under the teacher, from the same student for
all rows. `cpu` takes Multi30k and a smaller Transformer; no dependency carries sentence pairs, so
`tiny` has nothing to run on.
"""

from reweigh.config import MethodConfig
from reweigh.config.translation import (
    TextConfig,
    TranslationConfig,
    TranslationTraining,
    TranslatorConfig,
)
from reweigh.paper.cell import NOT_IN_PAPER, TEACHER, Cell, Origin, Published, Recipe, Scale
from reweigh.paper.scales import NOT_COMPARABLE, deep, named

PUBLISHED = {"none": (34.95, 35.61, 36.00), "mask:0.1:0.15": (33.68, 34.42, 35.56)}
"""BLEU of Baseline, L2T-data and the paper's teacher."""

CAPTIONS: dict[Scale, str] = {
    "full": "The paper's data and Transformer.",
    "cpu": "Multi30k in place of IWSLT'14, a Transformer of 256/512 and 3 + 3 layers in place of "
    f"512/1024 and 6 + 6; 15 epochs, or 2 of fine-tuning. {NOT_COMPARABLE}",
    "tiny": "Published values alone: nothing can be run.",
}
EPOCHS: dict[Scale, tuple[int, int]] = {"full": (60, 5), "cpu": (15, 2), "tiny": (1, 1)}
"""Of the training with Adam and of the fine-tuning; the paper gives hours."""


def cells(scale: Scale) -> list[Cell]:
    """The paper's three rows, and fine-tuning without a teacher."""
    return [
        cell
        for noise, (baseline, l2t, taught) in PUBLISHED.items()
        for cell in (
            _cell(scale, noise, "Baseline", baseline, None),
            _cell(scale, noise, "fine-tuned without a teacher", None, named(scale, "uniform")),
            _cell(scale, noise, "L2T-data", l2t, named(scale, "l2t-data")),
            _cell(scale, noise, TEACHER, taught, deep()),
        )
    ]


def _cell(
    scale: Scale, noise: str, row: str, value: float | None, method: MethodConfig | None
) -> Cell:
    published = Published(value) if value is not None else None
    why = NOT_IN_PAPER if value is None else ""
    column, paper = (_column(s, noise) for s in (scale, "full"))
    if scale == "tiny":
        none_here = "no dependency carries sentence pairs; use --scale cpu"
        return Cell(row, column, (), published, why or none_here)
    trained = _settings(scale, noise, named(scale, "uniform"), _adam(scale))
    if method is None:
        return Cell(row, column, (trained,), published, why, stands_for=paper)
    tuned = _settings(scale, noise, method, _sgd(scale))
    origin = Origin(trained, "student", "start")
    return Cell(row, column, (tuned,), published, why, origin, paper)


def _column(scale: Scale, noise: str) -> str:
    kind = "clean" if noise == "none" else "noisy"
    if scale == "cpu":
        return f"Multi30k De-En ({kind}), small Transformer"
    return f"IWSLT'14 De-En ({kind})"


def _settings(
    scale: Scale, noise: str, method: MethodConfig, training: TranslationTraining
) -> TranslationConfig:
    full = scale == "full"
    return TranslationConfig.model_validate(
        {
            "data": TextConfig(name="iwslt14" if full else "multi30k", noise=noise),
            "student": TranslatorConfig(model="transformer-iwslt" if full else "transformer-small"),
            "training": training,
            "method": method,
        }
    )


def _adam(scale: Scale) -> TranslationTraining:
    return TranslationTraining(epochs=EPOCHS[scale][0])


def _sgd(scale: Scale) -> TranslationTraining:
    return TranslationTraining(
        epochs=EPOCHS[scale][1], optimizer="sgd", lr=1e-3, schedule="constant"
    )


RECIPE = Recipe(
    "bleu",
    "German to English, fine-tuned under a teacher",
    "Table 7",
    cells,
    CAPTIONS,
    (
        "fairseq's recipe with Adam (its decay decoupled), 60 epochs (15 at cpu); the paper says one day, "
        "until convergence",
        "5 epochs of momentum SGD at 1e-3 (2 at cpu); the paper says three hours",
        "1,000 trusted pairs of the validation file, or half of it (507 of Multi30k); the paper does not say",
        "no averaging of checkpoints; the paper does not say, and averaging is worth 0.7 BLEU elsewhere",
        "Baseline is the student trained with Adam; a row more shows what fine-tuning does by itself",
        "Multi30k and a Transformer of 256/512 and 3 + 3 layers at cpu",
    ),
    measure="BLEU",
)
