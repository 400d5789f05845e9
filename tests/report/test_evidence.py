import tracemalloc
from pathlib import Path

import numpy as np
from tests.report.made_up import report, table
from tests.training.small import settings

from reweigh.audit.run import audit_run
from reweigh.data.columns import Columns
from reweigh.data.dialect import Dialect
from reweigh.report.contents import read_report
from reweigh.report.evidence import AT_ONCE, MOST_COLUMNS, Texts, evidence, texts_of
from reweigh.report.suspects import suspects
from reweigh.report.write import render
from reweigh.training.progress import SilentProgress
from reweigh.training.run import train


def flowers(path: Path) -> Path:
    """A table of two kinds told apart by their length; every seventh label is wrong."""
    rng = np.random.default_rng(0)
    lines = ["key,colour,length,label"]
    for i in range(140):
        kind = i % 2
        label = ("iris", "rose")[kind if i % 7 else 1 - kind]
        lines.append(f"k{i},<{('blue', 'red')[rng.integers(2)]}>,{kind * 40 + 0.125 * i},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_suspicious_rows_are_shown_as_they_were_written(tmp_path: Path) -> None:
    file = flowers(tmp_path / "flowers.csv")
    own = [f"data.name={file}", "data.noise=none", "data.train_limit=100", "training.epochs=6"]
    train(settings(*own, "data.id_column=key"), tmp_path / "run", SilentProgress())
    report = read_report([tmp_path / "run"])
    texts = texts_of(tmp_path / "run", report.audit)
    assert texts is not None
    assert texts.names == ("colour", "length")
    rows = [line.split(",") for line in file.read_text().splitlines()[1:]]
    for i, row in enumerate(report.audit.samples.ids):
        shown = evidence(report.audit, texts, i)
        assert sorted(shown.columns) == [(0, "colour", rows[row][1]), (1, "length", rows[row][2])]
        assert shown.picture is None
        if report.audit.predicted[i] != report.audit.samples.labels[i]:
            assert shown.columns[0].name == "length"
    assert suspects(report.audit, texts)
    assert "&lt;blue&gt;" in render(report)


def wide(columns: int) -> Texts:
    """Rows of two classes that the last column alone tells apart."""
    rng, labels = np.random.default_rng(0), np.arange(300) % 2
    values = {f"x{k}": rng.normal(size=300) for k in range(columns - 1)}
    return table(values | {"decisive": np.array(["v0", "v1"])[labels]}, labels)


def test_the_most_telling_columns_are_shown_and_the_others_follow() -> None:
    audit = report().audit
    one = (audit.samples.labels == 0) & (audit.predicted == 1)
    shown = evidence(audit, wide(13), int(np.flatnonzero(one)[0]))
    assert shown.columns[0].name == "decisive"
    assert (len(shown.columns), len(shown.more), shown.left_out) == (AT_ONCE, 5, 0)
    assert sorted(cell.column for cell in shown.columns + shown.more) == list(range(13))
    shown = evidence(audit, wide(MOST_COLUMNS + 7), 0)
    assert shown.left_out == 7


def test_numbers_with_decimal_commas_tell_as_numbers() -> None:
    labels, rng = np.arange(300) % 2, np.random.default_rng(0)
    values = {"noise": rng.normal(size=300), "size": labels + np.arange(300) / 7e3}
    cells = {
        name: np.array([f"{x:.4f}".replace(".", ",") for x in v]) for name, v in values.items()
    }
    columns = Columns(cells, Path("t.csv"), Dialect(";"))
    first = next(Texts(columns, ("noise", "size"), np.arange(300), labels, 2).row(0, 0, 1))
    assert (first.name, first.text) == ("size", "0,0000")


def test_rows_of_scikit_learn_are_shown_as_it_has_them(tmp_path: Path) -> None:
    from sklearn.datasets import load_breast_cancer

    own = ["data.name=breast-cancer", "data.noise=uniform:0.3", "training.epochs=1"]
    train(settings(*own), tmp_path / "run", SilentProgress())
    audit = audit_run(tmp_path / "run")
    texts = texts_of(tmp_path / "run", audit)
    cells = {cell.name: cell.text for cell in evidence(audit, texts, 0).columns}
    known = load_breast_cancer(as_frame=True).data.iloc[audit.samples.ids[0]]
    assert {name: float(text) for name, text in cells.items()} == dict(known[list(cells)])


def test_numbers_of_an_array_are_numbered(tmp_path: Path) -> None:
    rng, y = np.random.default_rng(0), np.arange(90) % 2
    x = rng.normal(size=(120, 12)).astype(np.float32)
    np.savez(tmp_path / "t.npz", x_train=x[:90], y_train=y, x_test=x[90:], y_test=y[:30])
    own = [f"data.name={tmp_path / 't.npz'}", "data.noise=none", "training.epochs=1"]
    train(settings(*own), tmp_path / "run", SilentProgress())
    audit = audit_run(tmp_path / "run")
    shown = evidence(audit, texts_of(tmp_path / "run", audit), 0)
    assert len(shown.columns + shown.more) == 12
    for column, name, text in shown.columns:
        assert name == f"feature {column}"
        assert text == f"{audit.samples.inputs[0, column]:.3g}"


def test_a_long_cell_makes_no_other_long(tmp_path: Path) -> None:
    lines = flowers(tmp_path / "t.csv").read_text().splitlines()
    lines = [
        lines[0] + ",note",
        *(f"{line},{'x' * 100_000 * (k == 5)}" for k, line in enumerate(lines[1:])),
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    own = [
        f"data.name={tmp_path / 't.csv'}",
        "data.ignore=note",
        "data.id_column=key",
        "data.noise=none",
        "training.epochs=1",
    ]
    train(settings(*own, "data.train_limit=100"), tmp_path / "run", SilentProgress())
    audit = audit_run(tmp_path / "run")
    tracemalloc.start()
    texts = texts_of(tmp_path / "run", audit)
    shown = [evidence(audit, texts, i) for i in range(len(audit.samples))]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(shown[0].columns) == 3
    assert most < 10_000_000  # one width would be 56 MB a copy


def test_pictures_need_no_texts(tmp_path: Path) -> None:
    shown = evidence(report().audit, None, 0)
    assert (shown.picture or "").startswith("data:image/png;base64,")
    assert shown.columns == ()
