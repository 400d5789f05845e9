"""Groups of verbs. Every verb has the options `--quiet`, `--no-color` and `--debug` behind its own."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from reweigh.cli.options import SCREEN
from reweigh.cli.screen import screen

Verb = Callable[..., None]


def _quiet(value: bool) -> bool:
    screen.quiet = value
    return value


def _no_color(value: bool) -> bool:
    screen.color = not value
    return value


def _debug(value: bool) -> bool:
    screen.debug = value
    return value


_Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", callback=_quiet, help="No progress, no remarks.", rich_help_panel=SCREEN
    ),
]
_NoColor = Annotated[
    bool,
    typer.Option(
        "--no-color",
        callback=_no_color,
        help="No colours (NO_COLOR is respected).",
        rich_help_panel=SCREEN,
    ),
]
_Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_debug, help="Show tracebacks here.", rich_help_panel=SCREEN),
]
_OF_THE_SCREEN = {"quiet": _Quiet, "no_color": _NoColor, "debug": _Debug}


class Verbs(typer.Typer):
    """Verbs that know how to speak: what their common options say is said to the screen."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[Verb], Verb]:
        """Register a verb; what is registered has more options, the function stays as it is."""
        register = super().command(name, **options)

        def registered(verb: Verb) -> Verb:
            register(_speaking(verb))
            return verb

        return registered


def _speaking(verb: Verb) -> Verb:
    """The verb with the options of the screen, whose callbacks do all there is to do with them."""
    own = signature(verb)
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in _OF_THE_SCREEN.items()
    ]

    @wraps(verb)
    def called(**given: Any) -> None:
        verb(**{name: value for name, value in given.items() if name not in _OF_THE_SCREEN})

    called.__annotations__ = {**verb.__annotations__, **_OF_THE_SCREEN}
    called.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])  # pyright: ignore[reportAttributeAccessIssue] (what signature() reads)
    return called
