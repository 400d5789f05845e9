"""The audit as a table on disk, with cleanlab's column names."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.data.table_file import write_columns

COLUMNS = (
    "index", "id", "name", "given_label", "predicted_label", "label_quality", "is_label_issue",
    "weight", "copy_group",
)  # fmt: skip


def write_table(audit: Audit, path: Path) -> None:
    """Write one row a label."""
    columns = partial(_columns, audit, audit.samples.called(), audit.copy_groups())
    write_columns(columns, len(audit.samples), path)


def _columns(
    audit: Audit, called: NDArray[Any], groups: NDArray[np.int64], part: slice
) -> dict[str, NDArray[Any]]:
    """The columns of some rows, by name and in order."""
    samples, classes = audit.samples, np.asarray(audit.class_names)
    labels = samples.labels[part]
    names = np.full(len(labels), "") if samples.names is None else samples.names[part]
    return {
        "index": np.arange(len(samples))[part],
        "id": called[part],
        "name": names,
        "given_label": classes[labels],
        "predicted_label": classes[audit.predicted[part]],
        "label_quality": audit.quality[part],
        "is_label_issue": audit.is_issue[part],
        "weight": audit.weight[part],
        "copy_group": groups[part],
    }
