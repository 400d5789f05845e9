import json
from pathlib import Path

from tests.audit.made_up import finished_run
from typer.testing import CliRunner

from reweigh.cli.app import app


def test_the_page_and_its_figures_are_written_where_it_says(tmp_path: Path) -> None:
    home = finished_run(tmp_path / "run")
    arguments = ["report", str(home), "--figures", "svg", "--json"]
    answer = json.loads(CliRunner().invoke(app, arguments, catch_exceptions=False).stdout)
    assert Path(answer["page"]) == home / "report" / "index.html"
    assert all(Path(path).is_file() for path in answer["files"])
    assert {Path(path).suffix for path in answer["files"]} == {".html", ".svg"}
