"""The flag that leaves columns of a table out, as it is typed."""

import json
import shlex
import tomllib
from collections.abc import Iterable


def ignoring(names: Iterable[str]) -> str:
    """`--set data.ignore=…` with all these names, quoted for a shell."""
    listed = list(dict.fromkeys(names))
    if "" in listed:
        return "give the column without a name one in the file, or delete it there"
    if unfit := [name for name in listed if "," in name]:
        return f"rename or delete {unfit[0]!r} in the file: data.ignore takes names without commas"
    value = ",".join(listed)
    return f"--set {shlex.quote(f'data.ignore={_as_text(value)}')}"


def _as_text(value: str) -> str:
    """What `--set` takes for this text; a column called 1 or true is none without quotes."""
    try:
        tomllib.loads(f"value = {value}")
    except ValueError:
        return value
    return json.dumps(value)
