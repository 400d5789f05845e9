"""What a run came to: figures for programs, a small table for people."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.markup import escape
from rich.table import Table

RESULT = "result.json"


@dataclass(frozen=True)
class RunResult(ABC):
    """What runs of every kind say of themselves."""

    method: str
    seed: int
    run_id: str
    folder: str
    """Where it is; not written into it, so that it can be moved."""
    best_epoch: int
    noise_auroc: float | None
    """How well low weights of the last epoch find planted noise; None where nobody knows it."""
    steps: int
    train_seconds: float
    """Processor time of all training steps, a method's own trials included."""
    parameters: int
    fingerprint: str = field(default="", kw_only=True)
    """Of the data that it learned from; empty where nobody took it."""
    machine: str = field(default="", kw_only=True)
    """What computed it, since processor times of different machines do not compare; empty in older
    results."""
    code: str = field(default="", kw_only=True)
    """A fingerprint of the modules of the user's own that it was made with; empty without such."""

    cautions: list[str] = field(default_factory=list, kw_only=True)
    """What to know of its data before believing a figure; results of older versions have none."""

    def kept(self) -> dict[str, Any]:
        """What is written to the run's folder."""
        return {name: value for name, value in asdict(self).items() if name != "folder"}

    def table(self) -> Table:
        """For people."""
        table = Table(title=escape(f"{self.method}, seed {self.seed}"), show_header=False)
        for name, value in self.scores():
            table.add_row(name, value)
        if self.noise_auroc is not None:
            table.add_row("AUROC of the weights for planted noise", f"{self.noise_auroc:.3f}")
        table.add_row("time of training", f"{self.train_seconds:.1f} s")
        table.add_row("run folder", escape(self.folder))
        return table

    @abstractmethod
    def scores(self) -> list[tuple[str, str]]:
        """The rows of the table that say how good the student is."""
        ...


@dataclass(frozen=True)
class ErrorResult(RunResult):
    """Of a classifier. Errors are shares of the test set in [0, 1]."""

    test_error_last: float
    """After the last epoch."""
    test_error_best_by_trusted: float
    """Of the epoch with the lowest error on the trusted set."""
    trusted_error_last: float
    test_error_per_class: list[float | None] | None = None
    """After the last epoch, in the order of the classes, None for one without test samples. Older
    results have no such list."""
    test_samples: int | None = None
    """How many the test errors are shares of; None in older results."""

    def scores(self) -> list[tuple[str, str]]:
        """Last and best by trusted."""
        best = f"{self.test_error_best_by_trusted:.2%} (epoch {self.best_epoch + 1})"
        return [
            ("test error, last epoch", f"{self.test_error_last:.2%}"),
            ("test error, epoch best by the trusted set", best),
        ]


@dataclass(frozen=True)
class BleuResult(RunResult):
    """Of a translator. BLEU is in 0 … 100."""

    bleu_last: float
    """Tokenised, of the first test set, after the last epoch."""
    bleu_best_by_trusted: float
    """Of the epoch with the lowest loss on the trusted set."""
    trusted_loss_last: float
    """Of a token, without label smoothing."""
    tests: dict[str, dict[str, list[float]]]
    """By test set, `last` and `best_by_trusted`: tokenised (multi-bleu.perl) and detokenised."""
    signature: str
    """How the detokenised score was computed."""

    def scores(self) -> list[tuple[str, str]]:
        """Both scores of every test set, last and best by trusted."""
        rows = []
        for name, found in self.tests.items():
            for which, words in (("last", "last epoch"), ("best_by_trusted", "best by trusted")):
                tokenised, detokenised = found[which]
                rows.append((f"BLEU {name}, {words}", f"{tokenised:.2f} ({detokenised:.2f})"))
        return [*rows, ("in brackets: detokenised", self.signature)]
