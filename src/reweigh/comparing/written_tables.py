r"""Tables as text for pages (Markdown), papers (LaTeX, with booktabs) and programs (CSV).

A column is on the left where it holds words, which `words` says of its head, else on the right.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from reweigh.data.table_file import inert

Lines = Iterable[Sequence[str]]

_LATEX = {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"} | {
    "±": r"$\pm$", "θ": r"$\theta$", "∂": r"$\partial$", "≠": r"$\neq$", "γ": r"$\gamma$",
    "*": r"$^*$", "|": r"$|$", "–": "--", "\\": r"\textbackslash{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}  # fmt: skip


def markdown(heads: Sequence[str], lines: Lines, words: Iterable[str]) -> str:
    """The table alone."""
    left = set(words)
    rule = ["---" if head in left else "---:" for head in heads]
    cells = ([cell.replace("|", r"\|") for cell in line] for line in (heads, rule, *lines))
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def latex(
    heads: Sequence[str],
    lines: Lines,
    words: Iterable[str],
    caption: str,
    remarks: Iterable[str] = (),
) -> str:
    """A `table` with its caption; above it, for its author alone, remarks as comments."""
    left = set(words)
    columns = "".join("l" if head in left else "r" for head in heads)
    aside = [f"% {' '.join(remark.split())}" for remark in remarks]
    top = [*aside, r"\begin{table}", r"\centering", rf"\caption{{{_escaped(caption)}}}"]
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(heads), r"\midrule"]
    foot = [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*top, *head, *map(_row, lines), *foot])


def comma_separated(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line a row, numbers as they are, nothing for None, and no text that a spreadsheet would run."""
    text = StringIO()
    lines = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    lines.writeheader()
    for row in rows:
        lines.writerow({name: inert(v) if isinstance(v, str) else v for name, v in row.items()})
    return text.getvalue().rstrip("\n")


def _row(values: Sequence[str]) -> str:
    return " & ".join(map(_escaped, values)) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)
