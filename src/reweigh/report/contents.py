"""What a report is made from: the runs, and the audit of the foremost of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reweigh import signals
from reweigh.audit.audited import Audited
from reweigh.audit.run import Audit, audit_run
from reweigh.comparing.measures import Measure, measure_of
from reweigh.config import RunConfig
from reweigh.report.charts import Chart, curve_charts, methods_chart
from reweigh.report.evidence import Texts, texts_of
from reweigh.report.pairs import pair_charts
from reweigh.report.reading import read_runs
from reweigh.report.runs import Run, counterpart, foremost, table
from reweigh.report.sample_charts import audit_charts, side_by_side
from reweigh.report.states import How
from reweigh.report.weight_history import weight_history_charts
from reweigh.report.words import shown
from reweigh.training.run import settings_of

if TYPE_CHECKING:
    from reweigh.audit.pairs import PairAudit


@dataclass(frozen=True)
class Report:
    """What a report is made from."""

    runs: list[Run]
    main: Run
    audit: Audit | None
    """Of the main run's labels; None where it learns from something else, such as sentence pairs."""
    texts: Texts | None = None
    """What people read of a sample that is no picture."""
    beside: tuple[Run, Audit] | None = None
    """A run whose teacher sees something else, to compare with."""
    states: How = "pca"
    pairs: "PairAudit | None" = None
    """Of the main run's sentence pairs, if it translates."""
    remarks: tuple[str, ...] = ()
    """What was said of the folders: runs that are missing or were left out."""

    @property
    def any_audit(self) -> Audited | None:
        """Of the main run, whatever it learns from."""
        return self.audit if self.audit is not None else self.pairs

    @property
    def measure(self) -> Measure:
        """What the runs are judged by."""
        return measure_of([run.result for run in self.runs])

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Of the table of methods."""
        return table(self.runs)

    @cached_property
    def charts(self) -> list[Chart]:
        """All charts, the answer first where there is something to compare; t-SNE takes a while."""
        answer = [methods_chart(self.rows, self.measure)] if len(self.rows) > 1 else []
        own = [] if self.audit is None else audit_charts(self.audit, self.states)
        own += [] if self.pairs is None else pair_charts(self.pairs)
        if self.beside is not None:
            run, audit = self.beside
            names = shown(self.main.row, 40), shown(run.row, 40)
            own = side_by_side(own, audit_charts(audit, self.states), names)
        curves = [*curve_charts(self.runs), *weight_history_charts(self.main)]
        return [*answer, *curves, *own]


def read_report(folders: Sequence[Path], states: How = "pca") -> Report:
    """Read the runs and audit the foremost of them, and the one to stand beside it."""
    found = read_runs(folders)
    runs, main = found.runs, foremost(found.runs)
    signals.check()
    config = settings_of(main.folder)
    if not isinstance(config, RunConfig):
        from reweigh.audit.pairs import audit_pairs  # a Transformer, for those who translate

        return Report(runs, main, None, pairs=audit_pairs(main.folder), remarks=found.remarks)
    other = counterpart(runs, main)
    audit = audit_run(main.folder)
    return Report(
        runs,
        main,
        audit,
        texts=texts_of(main.folder, audit),
        beside=None if other is None else (other, audit_run(other.folder)),
        states=states,
        remarks=found.remarks,
    )
