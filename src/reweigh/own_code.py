"""Code of the user's own, by its name `module:attribute`: a model, a method, a teacher.

Modules are looked for where Python looks, then in the current folder. What goes wrong while it is
imported, built or used is told in one sentence, with its name or its place, for whoever wrote it; in a
comparison it stops no other row.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from types import FrameType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from reweigh.config import Settings
from reweigh.config.methods import own_code
from reweigh.errors import OwnCodeError, ReweighError, UsageError

_texts: WeakKeyDictionary[ModuleType, bytes] = WeakKeyDictionary()
"""The modules as they were imported: a file may be edited while its old code runs on."""


def named_in(config: Settings) -> list[str]:
    """All that the settings name of the user's own code."""
    names = (config.student.model, own_code(config.method))
    return [name for name in names if name is not None and ":" in name]


def code_of(config: Settings) -> str:
    """A fingerprint of the modules that the settings name; not of what these import."""
    digest = sha256()
    for name in (names := named_in(config)):
        with suppress(UsageError):  # told by whoever builds it
            imported(name, "run", "name")
            digest.update(_texts[sys.modules[name.partition(":")[0]]])
    return digest.hexdigest()[:16] if names else ""


def forget_code(config: Settings) -> None:
    """Import it anew when it is asked for next: a worker may have outlived an edit."""
    for name in named_in(config):
        sys.modules.pop(name.partition(":")[0], None)


def imported(name: str, what: str, kind: str) -> Any:
    """What `module:attribute` names: `what` it is for (model, method), the `kind` of thing it is."""
    module_name, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last, so that no file here stands in for an installed module
    try:
        module = import_module(module_name)
        if module not in _texts:
            _texts[module] = _text_of(module)
        thing = getattr(module, attribute, None)
    except Exception as error:  # importing runs the user's code
        raise UsageError(
            f"the module of the {what} {name!r} cannot be imported, {told(error)}; "
            "is it in the current folder, or its folder on PYTHONPATH?"
        ) from error
    if not callable(thing):
        raise UsageError(f"the module {module_name!r} has no {kind} {attribute!r} to call")
    return thing


def _text_of(module: ModuleType) -> bytes:
    return b"" if module.__file__ is None else Path(module.__file__).read_bytes()


@contextmanager
def failing_as(name: str, called: str = "") -> Iterator[None]:
    """Whatever fails inside, in the user's code, is said to have failed there, and how it was called."""
    try:
        yield
    except ReweighError:
        raise
    except Exception as error:  # it may raise anything
        raise UsageError(
            f"{name} failed with {told(error)}{called and f'; it was called as {called}'}"
        ) from error


@contextmanager
def place_told(config: Settings) -> Iterator[None]:
    """What fails inside, in code that the settings name, is told with its place; other errors pass."""
    try:
        yield
    except ReweighError:
        raise
    except Exception as error:  # it may raise anything
        modules = {name.partition(":")[0] for name in named_in(config)}
        stack = [(f, line) for f, line in walk_tb(error.__traceback__) if _module_of(f) in modules]
        if not stack:
            raise
        raise OwnCodeError(f"{_place(*stack[-1])} failed with {told(error)}") from error


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _place(frame: FrameType, line: int) -> str:
    """`Mine.forward (mine.py, line 7)`: relative to where the user is, if it is there."""
    code, here = frame.f_code, Path.cwd()
    file = Path(code.co_filename)
    shown = file.relative_to(here) if file.is_relative_to(here) else file
    return f"{code.co_qualname.rpartition('<locals>.')[2]} ({shown}, line {line})"


def told(error: Exception) -> str:
    """Kind and message of an error, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
