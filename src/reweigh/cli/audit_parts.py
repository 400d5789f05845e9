"""What an audit found, for people: tables and the sentences under them."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from reweigh.audit.paired import Paired
from reweigh.data.checked_share import told
from reweigh.report.words import counted


def pair_parts(summary: dict[str, Any]) -> list[Any]:
    """The worst pairs, then the figures."""
    table = Table("quality", "source", "target", title=f"the worst of {summary['pairs']:,} pairs")
    for row in summary["worst"]:
        table.add_row(f"{row['label_quality']:.3f}", escape(row["source"]), escape(row["target"]))
    lines = [f"Every pair's score: {summary['table']}"]
    lines += [f"Caution: {words}." for words in summary["cautions"]]
    if (truth := summary["detection"]) is not None:
        lines.insert(
            0,
            f"Against planted noise ({truth['wrong']:,} pairs): AUROC {truth['auroc']:.3f}, "
            f"average precision {truth['average_precision']:.3f}.",
        )
    return [table, *lines]


def label_parts(summary: dict[str, Any]) -> list[Any]:
    """What people read: the classes, then the figures."""
    issues = counted(summary["issues"], "label issue")
    classes = Table(title=f"{issues} among {counted(summary['samples'], 'sample')}")
    for name in ("given label", "samples", "issues", "mean quality", "wrong, estimated", "mostly"):
        classes.add_column(name, justify="left" if name in ("given label", "mostly") else "right")
    for row in summary["classes"]:
        quality, share = row["label_quality"], row["estimated_wrong_share"]
        classes.add_row(
            escape(row["class"]),
            f"{row['samples']:,}",
            f"{row['issues']:,}",
            "–" if quality is None else f"{quality:.3f}",
            "not judged" if share is None else f"{share:.1%}",
            escape(row["most_likely_instead"] or "–"),
        )
    worst = [_worst(summary["worst"])] if summary["worst"] else []
    passes = [_second(summary["second_pass"])] if "second_pass" in summary else []
    return [classes, *worst, *sentences(summary), *passes]


def _worst(rows: list[dict[str, Any]]) -> Table:
    table = Table("id", "given label", "likely", "quality", title="the most suspicious")
    for row in rows:
        quality = f"{row['label_quality']:.3f}"
        table.add_row(
            escape(str(row["id"])),
            escape(row["given_label"]),
            escape(row["predicted_label"]),
            quality,
        )
    return table


def _second(outcome: dict[str, Any]) -> Any:
    """Both runs side by side, and what the trusted samples say."""
    verb = "dropped" if outcome["how"] == "drop" else "relabelled"
    title = f"second pass: {outcome['changed']:,} samples {verb}"
    caption = f"{outcome['verdict']} {Paired(**outcome['test_answers'])}"
    table = Table("", "before", "after", title=title, caption=caption)
    rows = {
        "trusted error": "trusted_error_last",
        "test error, last epoch": "test_error_last",
        "test error, epoch best by the trusted set": "test_error_best_by_trusted",
    }
    for words, key in rows.items():
        table.add_row(words, *(f"{outcome[run][key]:.2%}" for run in ("before", "after")))
    table.add_row("run folder", *(escape(outcome[run]["folder"]) for run in ("before", "after")))
    return table


def sentences(summary: dict[str, Any]) -> list[str]:
    """What no table holds: how many labels are wrong, and what to know before believing it."""
    n, wrong = summary["samples"], summary["estimated_wrong"]
    aside = ", ".join(f"{size:,} {part}" for part, size in summary["not_judged"].items())
    lines = [
        f"Estimated wrong labels: {wrong:,} of {n:,} ({wrong / n:.1%}). Not judged: {aside} samples.",
        *filter(None, [told(summary["checked"])]),
        *(f"Caution: {words}." for words in summary["cautions"]),
    ]
    if groups := summary["conflicting_copies"]:
        first = ", ".join(map(str, groups[0][:5]))
        lines.append(
            f"Equal inputs with different labels: {counted(len(groups), 'group')}, the first {first} "
            f"(all in {summary['table']}, column copy_group)."
        )
    if (truth := summary["detection"]) is not None:
        lines.append(
            f"Against the truth ({truth['wrong']:,} wrong): AUROC {truth['auroc']:.3f}, "
            f"average precision {truth['average_precision']:.3f}, F1 {truth['f1']:.3f}."
        )
    return [*lines, f"Every label's score: {summary['table']} (sort by label_quality)"]
