r"""Tables as text for pages (Markdown) and papers (LaTeX, with booktabs).

A column is on the left where it holds words, which `words` says of its head, else on the right.
"""

from collections.abc import Iterable, Sequence

Lines = Iterable[Sequence[str]]

_LATEX = {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"} | {
    "±": r"$\pm$", "θ": r"$\theta$", "∂": r"$\partial$", "≠": r"$\neq$", "γ": r"$\gamma$",
    "*": r"$^*$", "|": r"$|$", "–": "--", "\\": r"\textbackslash{}", "~": r"\textasciitilde{}",
}  # fmt: skip


def markdown(heads: Sequence[str], lines: Lines, words: Iterable[str]) -> str:
    """The table alone."""
    left = set(words)
    rule = ["---" if head in left else "---:" for head in heads]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))


def latex(heads: Sequence[str], lines: Lines, words: Iterable[str], caption: str) -> str:
    """A `table` with its caption."""
    left = set(words)
    columns = "".join("l" if head in left else "r" for head in heads)
    top = [r"\begin{table}", r"\centering", rf"\caption{{{_escaped(caption)}}}"]
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(heads), r"\midrule"]
    foot = [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*top, *head, *map(_row, lines), *foot])


def _row(values: Sequence[str]) -> str:
    return " & ".join(map(_escaped, values)) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)
