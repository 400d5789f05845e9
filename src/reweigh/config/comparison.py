"""What `reweigh compare` is asked for: settings that all rows share, and the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reweigh.config.lineup import choose, is_all
from reweigh.config.methods import MethodConfig
from reweigh.config.reading import check, named, read_tree
from reweigh.config.rows import explain_rows, own_rows
from reweigh.config.settings import Settings
from reweigh.config.writing import explain, plain_values
from reweigh.errors import UsageError


@dataclass(frozen=True)
class Comparison:
    """Methods on the same data, schedule and seeds."""

    base: Settings
    """Of all rows, but for the method."""
    rows: dict[str, MethodConfig]
    """By name, in the order of the table."""
    own: dict[str, MethodConfig]
    """The user's own rows, whether chosen or not."""
    unused_method: bool
    """Whether a [method] was given, which no row looks at."""
    left_out: list[str]
    """Rows of `all` that would have to know the true labels, where nobody does."""

    def runs(self, seeds: int) -> list[tuple[str, Settings]]:
        """Every row with every seed."""
        return [
            (name, self.base.model_copy(update={"method": method, "seed": self.base.seed + i}))
            for name, method in self.rows.items()
            for i in range(seeds)
        ]

    def plain(self) -> dict[str, Any]:
        """All settings as plain values; every row under `rows`, as in a settings file."""
        base = {k: v for k, v in plain_values(self.base).items() if k != "method"}
        return base | {"rows": {name: plain_values(row) for name, row in self.rows.items()}}

    def explained(self) -> str:
        """All settings as TOML with their meaning."""
        return explain(self.base, without={"method"}) + "\n" + explain_rows(self.rows, self.own)


def read_comparison(
    path: Path | None, options: Mapping[str, Any], assignments: Sequence[str], methods: str
) -> Comparison:
    """From a file, options and `key=value` text as for a run, and `methods`, which names the rows."""
    if any(one.startswith(("method.", "method=")) for one in assignments):
        raise UsageError(
            "A comparison takes its methods from --methods, with settings of their own; for other settings "
            "add a row of your own, as in --set rows.mine.like=deep --set rows.mine.every=2"
        )
    tree = read_tree(path, options, assignments)
    tables = tree.pop("rows", {})
    source = named(path, options, assignments)
    base = check(tree, source)
    own = own_rows(tables, base.task, source)
    rows = choose(methods, base.task, own)
    out = _without_truth(rows, base) if is_all(methods) else []
    kept = {name: row for name, row in rows.items() if name not in out}
    return Comparison(base, kept, own, "method" in tree, out)


def _without_truth(rows: Mapping[str, MethodConfig], base: Settings) -> list[str]:
    """Those that need the true labels, where they are not known."""
    return [name for name, row in rows.items() if row.needs_truth and not base.data.truth_known]
