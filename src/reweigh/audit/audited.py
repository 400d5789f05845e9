"""What every audit can say, whether it is of labels or of sentence pairs."""

from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from reweigh.audit.detection import Ranking


class Audited(Protocol):
    """An audit: a row for every training sample, in the order of the training set."""

    COLUMNS: ClassVar[tuple[str, ...]]
    """Of the table, in order."""

    def __len__(self) -> int: ...

    def columns(self, part: slice) -> dict[str, NDArray[Any]]:
        """Columns of the table for some samples, by name and in order."""
        ...

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before believing a figure."""
        ...

    @property
    def detection(self) -> Ranking | None:
        """How well what is wrong was found; None where nobody knows what is."""
        ...

    def summary(self) -> dict[str, Any]:
        """For programs: the figures, without the rows."""
        ...
