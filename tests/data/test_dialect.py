"""CSV as spreadsheets of other countries write it."""

from pathlib import Path

import numpy as np
import pytest

from reweigh.data.columns import Columns
from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.readers.unlabelled import Reader

ROWS = ["Größe,Stadt", "47,Köln", "30,Zürich"]


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> Columns:
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    return Columns.read(tmp_path / "t.csv")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separators_and_encodings_are_found_out_and_told(tmp_path, mark, encoding):
    columns = read(tmp_path, "\r\n".join(ROWS).replace(",", mark), encoding)
    assert columns.numbers("Größe").tolist() == [47, 30]
    assert columns.texts("Stadt").tolist() == ["Köln", "Zürich"]
    told = "".join(columns.remarks(columns.names))
    assert (f"as separated by {mark!r}" in told) == (mark != ",")
    assert (f"in {encoding}" in told) == (encoding in ("utf-16", "cp1252"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a;b,c\nx;y,1\n", ["a;b", "c"]),  # both would do: as it always was
        ("a;b,c\nx,y;1\nx;1\n", ["a", "b,c"]),  # rows of one length under the semicolon alone
        ("net, EUR;age;label\n1,5;3;x\n", ["net, EUR", "age", "label"]),
        ('"a";"b;c"\n"x, y";"z"\n', ["a", "b;c"]),
        ("label\na;b\n", ["label"]),  # the header decides
    ],
)
def test_the_header_decides_and_rows_must_agree(tmp_path, text, names):
    assert read(tmp_path, text).names == names


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_excel_s_first_line_is_no_header(tmp_path, encoding):
    columns = read(tmp_path, "sep=;\r\n" + "\r\n".join(ROWS).replace(",", ";"), encoding)
    assert columns.names == ["Größe", "Stadt"]
    assert columns.numbers("Größe").tolist() == [47, 30]


def test_decimal_commas_of_a_whole_column(tmp_path):
    lines = ["a;b;c;d;e;f", "1,5;1.234,50;1,5;1.5;1,5;1,2", "2;-0,5;2.5;2.5;x;1,2,3", "NA;;3;;;"]
    columns = read(tmp_path, "\n".join(lines))
    np.testing.assert_array_equal(columns.numbers("a"), [1.5, 2, np.nan])
    np.testing.assert_array_equal(columns.numbers("b"), [1234.5, -0.5, np.nan])
    np.testing.assert_array_equal(columns.numbers("d"), [1.5, 2.5, np.nan])
    for mixed in "cef":  # 2.5 is no number beside decimal commas: the point groups thousands
        assert columns.numbers(mixed) is None
    told = "t.csv is read as separated by ';' with decimal commas ('a', 'b')"
    assert columns.remarks(columns.names) == (told,)
    assert read(tmp_path, 'a,b\n"1,5",x\n').numbers("a") is None


def test_points_that_may_group_thousands_are_told_not_guessed(tmp_path):
    columns = read(tmp_path, "a;b;c\n999;0.999;1,5\n1.234;1.234;1.234\n")
    np.testing.assert_array_equal(columns.numbers("a"), [999, 1.234])
    (_, word) = columns.remarks(columns.names)
    assert word.startswith("column 'a' has numbers such as '1.234', read with a decimal point")
    assert read(tmp_path, "a,b\n999,x\n1.234,y\n").remarks("ab") == ()


def test_the_same_samples_whatever_the_country(tmp_path):
    rng = np.random.default_rng(0)
    header = ["id,größe,stadt,label"]
    rows = [f"r{i},{x:.3f},{['Köln', 'Bonn'][i % 2]},{'ab'[i % 2]}"
            for i, x in enumerate(rng.normal(size=80))]  # fmt: skip
    sure = ["id,label", *(f"r{i},{'ab'[i % 2]}" for i in range(20))]
    (tmp_path / "us.csv").write_text("\n".join(header + rows), encoding="utf-8")
    (tmp_path / "us_sure.csv").write_text("\n".join(sure))
    theirs = "\n".join(header + rows).replace(",", ";").replace(".", ",")
    (tmp_path / "de.csv").write_bytes(theirs.encode("cp1252"))
    (tmp_path / "de_sure.csv").write_bytes("\n".join(sure).replace(",", ";").encode("utf-16"))
    us, de = (
        prepare(DataSpec(data=str(tmp_path / f"{c}.csv"), trusted=tmp_path / f"{c}_sure.csv"))
        for c in ("us", "de")
    )
    assert us.record["fingerprint"] == de.record["fingerprint"]
    assert set(de.cautions) - set(us.cautions) == {
        "de.csv is read as separated by ';' with decimal commas ('größe'), in cp1252",
        "de_sure.csv is read as separated by ';', in utf-16",
    }
    new = Reader("table", (3,), None, us.encoding)(tmp_path / "de.csv")
    np.testing.assert_array_equal(new.inputs[us.train.ids], us.train.inputs)
    assert "decimal commas ('größe')" in new.cautions[0]


def test_labels_a_line_in_the_encoding_of_windows(tmp_path):
    rows = [f"{i},{['Köln', 'Bonn'][i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,label", *rows]), encoding="utf-8")
    (tmp_path / "l.txt").write_bytes("\r\n".join(["Köln"] * 60).encode("cp1252"))
    found = prepare(DataSpec(data=str(tmp_path / "t.csv"), labels=tmp_path / "l.txt"))
    assert (found.train.labels == found.class_names.index("Köln")).all()


def test_how_a_file_of_test_samples_is_read_is_told_as_of_the_others(tmp_path):
    rows = [f"k{i},{i},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    (tmp_path / "right.csv").write_text("id;label\nk0;a\nk1;b\n")
    problem = prepare(DataSpec(data=str(tmp_path / "t.csv"), test=tmp_path / "right.csv"))
    assert "right.csv is read as separated by ';'" in problem.cautions
