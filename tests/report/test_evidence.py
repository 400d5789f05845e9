from pathlib import Path

import numpy as np
from tests.training.small import settings

from reweigh.report.evidence import evidence, texts_of
from reweigh.report.suspects import suspects
from reweigh.report.write import read_report, render
from reweigh.training.progress import SilentProgress
from reweigh.training.run import train


def flowers(path: Path) -> Path:
    """A table of two kinds told apart by their length; every seventh label is wrong."""
    rng = np.random.default_rng(0)
    lines = ["colour,length,label"]
    for i in range(140):
        kind = i % 2
        label = ("iris", "rose")[kind if i % 7 else 1 - kind]
        lines.append(f"<{('blue', 'red')[rng.integers(2)]}>,{kind * 40 + 0.125 * i},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_suspicious_rows_are_shown_as_they_were_written(tmp_path: Path) -> None:
    file = flowers(tmp_path / "flowers.csv")
    own = [f"data.name={file}", "data.noise=none", "data.train_limit=100", "training.epochs=6"]
    train(settings(*own), tmp_path / "run", SilentProgress())
    report = read_report([tmp_path / "run"])
    texts = texts_of(tmp_path / "run", report.audit)
    assert texts is not None
    assert list(texts) == ["colour", "length"]
    rows = [line.split(",") for line in file.read_text().splitlines()[1:]]
    for i, row in enumerate(report.audit.samples.ids):
        shown = evidence(report.audit, texts, i)
        assert shown.columns == (("colour", rows[row][0]), ("length", rows[row][1]))
        assert shown.picture is None
    assert suspects(report.audit, texts)
    assert "&lt;blue&gt;" in render(report)


def test_pictures_need_no_texts(tmp_path: Path) -> None:
    from tests.report.made_up import report

    shown = evidence(report().audit, None, 0)
    assert (shown.picture or "").startswith("data:image/png;base64,")
    assert shown.columns == ()
