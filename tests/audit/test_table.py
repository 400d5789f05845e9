import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.audit.made_up import audited

from reweigh.audit.run import Audit
from reweigh.data.table_file import write_columns
from reweigh.errors import UsageError

HOSTILE = ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", 'a"b,c\nd', "<script>", "\ud800")


def write_table(audit: Audit, path: Path) -> None:
    write_columns(audit.columns, len(audit), path)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_sample_has_a_row_under_cleanlabs_names(tmp_path: Path) -> None:
    audit = audited()
    write_table(audit, tmp_path / "audit.csv")
    read = rows(tmp_path / "audit.csv")
    assert tuple(read[0]) == Audit.COLUMNS
    assert len(read) == len(audit)
    assert [r["is_label_issue"] == "True" for r in read] == audit.is_issue.tolist()
    np.testing.assert_allclose([float(r["label_quality"]) for r in read], audit.quality, rtol=1e-5)


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    names = np.array([f"{HOSTILE[i % len(HOSTILE)]}|{i}" for i in range(300)])
    write_table(audited(class_names=HOSTILE[:3], names=names), tmp_path / "audit.csv")
    for row in rows(tmp_path / "audit.csv"):
        for name in ("id", "name", "given_label", "predicted_label"):
            harmless = row[name] in ("+1", "-1")  # plain numbers stay as they are
            assert harmless or not row[name].startswith(("=", "+", "-", "@", "\t"))
        assert row["label_quality"][0].isdigit()


def test_a_sample_nobody_weighed_has_an_empty_cell(tmp_path: Path) -> None:
    audit = audited()
    write_table(replace(audit, weight=np.full_like(audit.weight, np.nan)), tmp_path / "a.csv")
    assert rows(tmp_path / "a.csv")[0]["weight"] == ""


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    audit = audited()
    write_table(audit, tmp_path / "audit.parquet")
    table = pq.read_table(tmp_path / "audit.parquet")
    assert tuple(table.column_names) == Audit.COLUMNS
    assert table["is_label_issue"].to_pylist() == audit.is_issue.tolist()


@pytest.mark.parametrize("name", ["audit.xlsx", "missing/audit.csv"])
def test_what_cannot_be_written_leaves_nothing(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="audit"):
        write_table(audited(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
