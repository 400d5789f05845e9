"""What the checked rows alone say of the noise."""

from pathlib import Path

from reweigh.data.checked_share import told
from reweigh.data.prepare import DataSpec, prepare


def checked(folder: Path, trusted: str, **more: str) -> dict[str, int] | None:
    rows = [f"{i},{i / 100},{'ab'[i % 2]}" for i in range(100)]
    (folder / "rows.csv").write_text("\n".join(["id,x,label", *rows]))
    (folder / "checked.csv").write_text(trusted)
    spec = DataSpec(data=str(folder / "rows.csv"), trusted=folder / "checked.csv", **more)
    return prepare(spec).record["checked"]


def test_checked_labels_that_differ_are_counted_and_told(tmp_path: Path) -> None:
    lines = [f"{i},{'ab'[i % 2 if i % 4 else 1]}" for i in range(20)]  # 0, 4, 8, 12, 16 corrected
    found = checked(tmp_path, "\n".join(["id,label", *lines]))
    assert found == {"samples": 20, "wrong": 5}
    assert "Of the 20 checked labels 5 differ from the data's (25.0% ± 9.7 points)" in told(found)


def test_none_wrong_is_told_as_well(tmp_path: Path) -> None:
    """Beside an estimate of many it is the figure to believe."""
    found = checked(tmp_path, "\n".join(["id,label", *(f"{i},{'ab'[i % 2]}" for i in range(30))]))
    assert told(found).startswith("None of the 30 checked labels differs from the data's")
    assert "fewer than 10.0% of all" in told(found)


def test_nothing_is_told_where_nobody_can_know(tmp_path: Path) -> None:
    assert checked(tmp_path, "id\n0\n1\n2\n3") is None  # confirmed, or just listed
    assert checked(tmp_path, "id,label\n0,b\n1,b", noise="flip:0.2") is None
    assert told(None) == ""
