from pathlib import Path

from tests.audit.made_up import finished_run

from reweigh.cli import demo
from reweigh.cli.screen import screen


def test_the_demo_ends_by_writing_a_report_and_saying_where(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(screen, "folder", tmp_path)
    monkeypatch.setattr(demo, "compare", lambda **_: finished_run(tmp_path / "run"))
    demo.demo()
    page = tmp_path / "report" / "index.html"
    assert str(page) in capsys.readouterr().err
    assert page.is_file()


def test_without_the_reports_packages_it_says_what_is_missing(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(screen, "folder", tmp_path)
    monkeypatch.setattr(demo, "compare", lambda **_: None)
    monkeypatch.setattr("reweigh.report.write.find_spec", lambda name: None)
    demo.demo()
    assert "reweigh[report]" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
