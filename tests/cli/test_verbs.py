"""Verbs and their common options."""

from collections.abc import Iterator
from typing import Any

import typer
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.cli.screen import screen
from reweigh.cli.verbs import Verbs

COMMON = {"--quiet", "--no-color", "--debug"}


def verbs(group: Any) -> Iterator[Any]:
    for command in group.commands.values():
        yield from verbs(command) if hasattr(command, "commands") else [command]


def test_every_verb_has_the_options_of_the_screen() -> None:
    found = list(verbs(typer.main.get_command(app)))
    assert len(found) > 20
    for verb in found:
        assert {option for one in verb.params for option in one.opts} >= COMMON, verb.name


def test_they_are_said_to_the_screen_and_not_to_the_verb(monkeypatch) -> None:
    monkeypatch.setattr(screen, "quiet", False)
    monkeypatch.setattr(screen, "color", True)
    group, called = Verbs(), []

    @group.command()
    def greet(name: str = "you") -> None:
        called.append((name, screen.quiet, screen.color))

    assert CliRunner().invoke(group, ["--name", "me", "-q", "--no-color"]).exit_code == 0
    greet()  # stays a plain function
    assert called == [("me", True, False), ("you", True, False)]
