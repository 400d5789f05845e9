import json

from typer.testing import CliRunner

from reweigh.bench.step import table
from reweigh.cli.app import app


def test_every_way_to_train_and_reading_are_measured() -> None:
    arguments = ["bench", "step", "--models", "mlp", "--rounds", "1", "--json"]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    rows = json.loads(done.stdout)["rows"]
    assert [row["training"] for row in rows] == [
        "uniform weights", "teacher, K=20, B=2", "the default, K=20, B=1", "reading and augmenting alone",
    ]  # fmt: skip
    assert all(0.2 < row["times_plain"] < 50 for row in rows[:3])
    assert rows[3]["times_plain"] > 0
    assert table(rows).row_count == 4
