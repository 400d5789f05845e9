"""Errors that a Python caller meets are written as torch's, those of commands and files as sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import reweigh
from reweigh import errors

ROOT = Path(reweigh.__file__).parent
LIBRARY = {"adapters", "decoding", "distributed", "metagrad", "methods"}
LIBRARY |= {"models", "stepping", "student", "teachers"}
"""Packages; the files beside them, such as reweigher.py, are of the library, too."""
COMMANDS = {"distributed/launch.py", "replacing.py", "run_files.py", "signals.py"}
"""Files among those of the library that only commands meet."""
EMBEDDED = {"data/fetch.py"}
"""Words in brackets of another sentence."""
KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type)}

NAMED = r"[a-z]\w*[_.\d]|[a-z]+ = |(cleanlab|torchrun|labels) "  # a setting, an argument, a program
TO_COPY = r"(reweigh|as in|such as|with:) [^;]*"
HELPED = r"\S\{\}|rows\.\{\} \{\}|can be used: \{\}"  # the value is the end of a sentence
SENTENCE = re.compile(rf"([A-Z{{-]|{NAMED}).*([.?]|{TO_COPY}|{HELPED})")
PHRASE = re.compile(r"([a-z{]|Lightning ).*[^.]")


def raised(file: Path) -> Iterator[str]:
    """The texts of our errors that have words, with {} for values."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id=kind), args=[text, *_])) if kind in KINDS:
                if re.search(r"\w", words := written(text)):
                    yield words


def written(text: ast.expr) -> str:
    match text:
        case ast.Constant(value=str(words)):
            return words
        case ast.JoinedStr(values=parts):
            return "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in parts)
    return ""  # put together elsewhere


def test_every_error_is_in_the_style_of_its_package() -> None:
    strange = []
    for file in sorted(ROOT.rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        library = name.partition("/")[0] in LIBRARY or "/" not in name
        style = PHRASE if library and name not in COMMANDS else SENTENCE
        wrong = [text for text in raised(file) if not style.fullmatch(text)]
        strange += [f"{name}: {text}" for text in wrong if name not in EMBEDDED]
    assert not strange, "\n".join(strange)
