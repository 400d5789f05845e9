import json
import os
import shutil
import signal
from pathlib import Path

from tests.audit.made_up import finished_run
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import InterruptedRun
from reweigh.report import figures, write


def test_the_page_and_its_figures_are_written_where_it_says(tmp_path: Path) -> None:
    home = finished_run(tmp_path / "run")
    arguments = ["report", str(home), "--figures", "svg", "--json"]
    answer = json.loads(CliRunner().invoke(app, arguments, catch_exceptions=False).stdout)
    assert Path(answer["page"]) == home / "report" / "index.html"
    assert all(Path(path).is_file() for path in answer["files"])
    assert {Path(path).suffix for path in answer["files"]} == {".html", ".svg"}


def test_what_the_page_cautions_of_is_said_in_the_terminal_and_to_programs(tmp_path: Path) -> None:
    home = finished_run(tmp_path / "run")
    copy = shutil.copytree(home, tmp_path / "copy")
    arguments = ["report", str(home), str(copy), "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    told = "copy repeats run (the same settings and the same seed) and is left out"
    assert told in json.loads(result.stdout)["cautions"]
    assert f"Caution: {told}." in result.stderr


def test_a_signal_between_page_and_figures_leaves_what_is_whole(
    tmp_path: Path, monkeypatch
) -> None:
    home = finished_run(tmp_path / "run")
    draw, render = figures.draw, write.render

    def asked(original):
        def wrapped(*arguments):
            os.kill(os.getpid(), signal.SIGINT)
            return original(*arguments)

        return wrapped

    def files() -> list[str]:
        return sorted(p.name for p in (home / "report").rglob("*") if p.is_file())

    def report() -> int:
        result = CliRunner().invoke(app, ["report", str(home), "--figures", "svg"])
        assert isinstance(result.exception, InterruptedRun)
        return result.exception.exit_code

    monkeypatch.setattr(write, "render", asked(render))
    assert report() == 75
    assert files() == []
    monkeypatch.setattr(write, "render", render)
    monkeypatch.setattr(figures, "draw", asked(draw))
    assert report() == 75
    assert len(files()) == 3
    assert {"audit.csv", "index.html"} < {*files()}
