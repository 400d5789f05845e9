"""Settings that nobody meant: each is either valid or refused in a sentence, never a traceback."""

import math
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.fault import Fault

from reweigh.config import RunConfig, explain, read_config, to_toml
from reweigh.config.methods import METHODS
from reweigh.config.reading import check
from reweigh.config.writing import plain_values
from reweigh.errors import UsageError

SEED = 4
_TREES, _FILES, _ASSIGNMENTS = 2000, 500, 1000
_VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2**63, -(2**63), 10**400, 0.0, -0.0, 1e-300, 1e308, math.nan, math.inf, -math.inf),
    *(
        "",
        "auto",
        "none",
        "deep",
        "cuda:99",
        "flip:0.4",
        "flip:nan",
        "../x",
        "\0",
        "\ud800",
        "x" * 9999,
    ),
    *(True, False, None, [], {}, [[]], {"": {}}, b"bytes", object, 1j),
)


def _keys(section: Any = RunConfig) -> list[str]:
    return [*section.model_fields, "", "nonsense", "name", "a.b"]


def _tree(random: Random, values: dict[str, Any]) -> dict[str, Any]:
    """Real settings with a few leaves, keys and tables replaced by anything."""
    result = dict(values)
    for _ in range(random.randint(1, 3)):
        key = random.choice([*result, *_keys()])
        inner = result.get(key)
        if isinstance(inner, dict) and random.random() < 0.8:
            result[key] = _tree(random, inner)
        else:
            result[key] = random.choice(_VALUES)
    return result


def _valid_or_refused(read: Callable[[], RunConfig]) -> None:
    """Valid settings are read again as the same; a refusal says why."""
    try:
        config = read()
    except UsageError as error:
        said = str(error)
    else:
        assert check(tomllib.loads(to_toml(config)), "written") == config
        return
    assert said.strip()


def _base(random: Random) -> dict[str, Any]:
    method = random.choice([*METHODS])
    return plain_values(check({"method": {"name": method}}, "base"))


def _try_tree(seed: int, folder: Path) -> None:
    random = Random(seed)
    tree = _tree(random, _base(random))
    _valid_or_refused(lambda: check(tree, "a tree"))


def _try_file(seed: int, folder: Path) -> None:
    random = Random(seed)
    raw = bytearray(explain(check({"method": _base(random)["method"]}, "base")).encode())
    for _ in range(random.randint(1, 8)):
        place = random.randrange(len(raw))
        change = random.randrange(4)
        if change == 0:
            raw[place] = random.randrange(256)
        elif change == 1:
            del raw[place : place + random.randint(1, 40)]
        elif change == 2:
            raw[place:place] = random.choice(
                (b"\n[", b"=", b"'", b'"""', b"\xff", b"\0", b"nan", b"[[a]]\n")
            )
        else:
            raw[place:place] = raw[place // 2 : place // 2 + random.randint(1, 200)]
    file = folder / "mutated.toml"
    file.write_bytes(raw)
    _valid_or_refused(lambda: read_config(file))


def _try_assignment(seed: int, folder: Path) -> None:
    random = Random(seed)
    key = ".".join(
        random.choice([*_keys(), "training", "method", "data", "lr", "epochs"])
        for _ in range(random.randint(0, 3))
    )
    value = random.choice(
        [
            str(random.choice(_VALUES)),
            "[" * random.randint(0, 3000),
            "__import__('os').abort()",
            "".join(chr(random.randrange(1, 0xD7FF)) for _ in range(9)),
        ]
    )
    text = random.choice([f"{key}={value}", key, value, f"={value}", f"{key}=={value}"])
    _valid_or_refused(lambda: read_config(None, {}, [text]))


def _seeds(count: int, kind: int) -> list[int]:
    return [SEED * 10**7 + kind * 10**6 + i for i in range(count)]


TREES = Fault("settings: random trees", SEED, _seeds(_TREES, 0), _try_tree)
FILES = Fault("settings: mutated TOML files", SEED, _seeds(_FILES, 1), _try_file)
ASSIGNMENTS = Fault("settings: --set strings", SEED, _seeds(_ASSIGNMENTS, 2), _try_assignment)
