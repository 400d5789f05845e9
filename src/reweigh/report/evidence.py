"""What a person judges a sample by: a picture, or texts under the names of their columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.config import RunConfig
from reweigh.data.columns import ID, ROLES, Columns
from reweigh.report.pictures import picture
from reweigh.report.words import shown
from reweigh.training.run import settings_of
from reweigh.training.whereabouts import with_data_found

Texts = Mapping[str, NDArray[np.str_]]  # by column, (n,) in the order of the training samples
LONGEST = 400
MOST_COLUMNS = 8


@dataclass(frozen=True)
class Evidence:
    """Of one sample: the address of an inline picture, or the texts of its columns."""

    picture: str | None = None
    columns: tuple[tuple[str, str], ...] = ()


def texts_of(run: Path, audit: Audit) -> Texts | None:
    """The cells of a table as they were written; None where the samples are no rows of a file."""
    config = settings_of(run)
    assert isinstance(config, RunConfig), "its labels were audited"
    config = with_data_found(config, run)
    path = Path(config.data.name)
    if audit.samples.inputs.ndim == 4 or path.suffix.lower() not in (".csv", ".parquet"):
        return None
    table = Columns.read(path)
    names = [name for name in table.names if name not in {config.data.label_column, ID, *ROLES}]
    return {name: table.texts(name)[audit.samples.ids] for name in names}


def evidence(audit: Audit, texts: Texts | None, i: int) -> Evidence:
    """What to show of the sample at position i; numbers as the student sees them if no texts."""
    if texts is not None:
        cells = [(name, str(column[i])) for name, column in list(texts.items())[:MOST_COLUMNS]]
    elif audit.samples.inputs.ndim == 4:
        return Evidence(picture=picture(audit.samples.inputs[i]))
    else:
        cells = _features(audit.samples.inputs[i])
    return Evidence(columns=tuple((shown(name, 40), shown(text, LONGEST)) for name, text in cells))


def _features(row: NDArray[Any]) -> list[tuple[str, str]]:
    """The first features of a row (d,), numbered."""
    return [(f"feature {k}", f"{x:.3g}") for k, x in enumerate(row[:MOST_COLUMNS].tolist())]
