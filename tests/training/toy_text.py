"""A toy language pair with a known answer: each word has one translation, and a verb comes last
in the source, second in the target (as in German subordinate clauses).
"""

from pathlib import Path
from random import Random

from reweigh.config import TranslationConfig, read_config

WHO = {"kind": "child", "hund": "dog", "katze": "cat", "frau": "woman", "mann": "man"}
VERB = {"sieht": "sees", "sucht": "seeks", "ruft": "calls", "kennt": "knows"}
HOW = {"heute": "today", "gern": "gladly", "oft": "often", "nie": "never"}


def pair(random: Random) -> tuple[str, str]:
    """`kind heute hund sieht` → `child sees dog today`."""
    a, b = random.choice([*WHO]), random.choice([*WHO])
    how, verb = random.choice([*HOW]), random.choice([*VERB])
    more = [random.choice([*HOW])] if random.random() < 0.5 else []
    source = [a, how, *more, b, verb]
    target = [WHO[a], VERB[verb], WHO[b], HOW[how], *(HOW[m] for m in more)]
    return " ".join(source), " ".join(target)


def write_toy(folder: Path, train: int = 400, held_out: int = 60, seed: int = 0) -> Path:
    """train, valid and test files of distinct pairs; `folder` is `data.name` of a run."""
    random = Random(seed)
    pairs: dict[str, str] = {}
    while len(pairs) < train + 2 * held_out:
        source, target = pair(random)
        pairs[source] = target
    rows = [f"{source}\t{target}\n" for source, target in pairs.items()]
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in {
        "train": rows[2 * held_out :],
        "valid": rows[:held_out],
        "test": rows[held_out : 2 * held_out],
    }.items():
        (folder / f"{name}.tsv").write_text("".join(part), encoding="utf-8")
    return folder


TOY = (
    "task=translation",
    "data.merges=200",
    "data.trusted=30",
    "student.options={width = 32, inner = 64, heads = 2, layers = [1, 1]}",
    "student.dropout=0.0",
    "training.max_tokens=120",
    "training.lr=3e-3",
    "training.schedule=inverse-sqrt:30",
    "method.name=uniform",
    "threads=1",
)
"""Settings of a run on it that takes seconds."""


def toy(folder: Path, *assignments: str) -> TranslationConfig:
    """Settings of a run on the toy text in `folder`, changed as told."""
    config = read_config(None, {}, [*TOY, f"data.name={folder}", *assignments])
    assert isinstance(config, TranslationConfig)
    return config


TUNE = ("training.optimizer=sgd", "training.lr=1e-3", "training.schedule=constant")
"""Fine-tuning as the paper does it."""
