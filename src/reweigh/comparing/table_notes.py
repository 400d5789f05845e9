"""What a reader must know of a table's figures: of its methods, of its test set, of its runs."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from reweigh.comparing.measures import over_seeds
from reweigh.comparing.test_size import by_size, worth_telling
from reweigh.config.lineup import PRETRAINED
from reweigh.config.methods import METHODS, trains_on_trusted

Row = dict[str, Any]
"""What one run came to, with its row's name under `method` and its method's settings."""
ON_TRUSTED = "trained on the trusted samples as well, and their best epoch chosen by them"


def by_method(rows: Sequence[Row]) -> list[list[Row]]:
    """The seeds of each."""
    methods = dict.fromkeys(row["method"] for row in rows)
    return [[row for row in rows if row["method"] == method] for method in methods]


def notes(rows: Sequence[Row]) -> list[str]:
    """What belongs to the figures wherever they stand."""
    return [words for words in (_of_methods(rows), _of_test_size(rows)) if words]


def cautions(rows: Sequence[Row]) -> list[str]:
    """What to know before the figures go anywhere; what every run said of the data, once."""
    said = dict.fromkeys(word for row in rows for word in row.get("cautions", ()))
    return [f"Caution: {word}" for word in (_other_data(rows), *said) if word]


def _of_methods(rows: Sequence[Row]) -> str:
    settings = {row["method"]: row["settings"] for row in rows}
    less = {m: budget for m, own in settings.items() if (budget := _budget(own))}
    words = [
        f"{', '.join(m for m in less if less[m] == budget)}: {budget}"
        for budget in dict.fromkeys(less.values())
    ]
    both = [m for m, own in settings.items() if trains_on_trusted(own)]
    both = [m for m in both if m != "trusted-only"]  # its name says more
    if both:
        words.append(f"{ON_TRUSTED}: {', '.join(both)}")
    if rows and "signature" in rows[0]:
        words.insert(
            0, f"BLEU as multi-bleu.perl, in brackets detokenised ({rows[0]['signature']})"
        )
    return "; ".join(words)


def _budget(settings: dict[str, Any]) -> str | None:
    """What a method runs on, where its authors give it more."""
    kind = METHODS.get(settings["name"])  # None for the user's own
    return kind.budget.format(**settings) if kind else None


def _of_test_size(rows: Sequence[Row]) -> str:
    """What no spread over seeds covers, of the row where it is most; empty where nobody kept the size."""
    size = {row.get("test_samples") for row in rows}
    if len(size) != 1 or not (samples := size.pop()):
        return ""
    values = [over_seeds([100 * r["test_error_last"] for r in one]) for one in by_method(rows)]
    points = [100 * by_size(mean / 100, samples) for mean, _ in values]
    if not any(map(worth_telling, points, values)):
        return ""
    return f"a test set of {samples:,} samples leaves ± {max(points):.1f} points by its size alone"


def _other_data(rows: Sequence[Row]) -> str:
    """Seeds whose runs do not compare: what their settings name has changed between them."""
    own = [row for row in rows if row["method"] != PRETRAINED]  # which may have been free of noise
    kept = {(row["seed"], row["fingerprint"]) for row in own if row.get("fingerprint")}
    times = Counter(seed for seed, _ in kept)
    told = ", ".join(str(seed) for seed in sorted(times) if times[seed] > 1)
    return f"runs of seed {told} learned from different data, and do not compare" if told else ""
