"""Rows of one's own in a comparison: a method, or a row of the lineup, with settings of one's own.

[rows.deep-K2]
like = "deep"
every = 2

[rows.mine]
name = "my_method:Mine"
options.gamma = 2.0
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import tomli_w

from reweigh.config.lineup import LINEUP, PRETRAINED, lineup_of
from reweigh.config.methods import MethodConfig
from reweigh.config.reading import check
from reweigh.config.writing import explained_table, plain_values
from reweigh.errors import UsageError
from reweigh.nearest import nearest


def own_rows(tables: Any, task: str, source: str) -> dict[str, MethodConfig]:
    """The tables below `rows`, checked; `source` is where they stand."""
    if not isinstance(tables, Mapping):
        raise UsageError(f"In {source}: rows = {tables!r} should be tables, as in [rows.NAME].")
    rows: dict[str, MethodConfig] = {}
    for name, table in tables.items():
        if (wrong := _complaint(name, table)) is not None:
            raise UsageError(f"In {source}: rows.{name} {wrong}")
        method = _settings(table, lineup_of(task))
        rows[name] = check({"task": task, "method": method}, source, f"rows.{name}").method
    return rows


def explain_rows(chosen: Mapping[str, MethodConfig], own: Iterable[str]) -> str:
    """The rows of a comparison as TOML: one's `own` as tables with every field explained, the others,
    which cannot be changed, as comments."""
    fixed = [f"# {name} = {_inline(method)}" for name, method in chosen.items() if name not in own]
    told = ["# Rows of the table by name, with the settings of their methods.", *fixed]
    tables = [explained_table(chosen[name], f"rows.{_key(name)}") for name in own if name in chosen]
    return "\n\n".join(["\n".join(told), *tables])


def _complaint(name: str, table: Any) -> str | None:
    """What is wrong with a row before its settings are looked at."""
    if name in LINEUP or name in (PRETRAINED, "all"):
        return f"has a name that is taken; choose another, as in [rows.my-{name}]."
    if not re.fullmatch(r"[\w.+-]{1,80}", name):
        return "should have a name of at most 80 letters, digits, '-', '_', '+' and '.'."
    if not isinstance(table, Mapping):
        return f'= {table!r} should be a table, as in rows.{name}.like = "deep".'
    if ("name" in table) == ("like" in table):
        return 'needs either name = "METHOD" or like = "ROW", and the settings to change.'
    like = table.get("like", "deep")
    if like not in list(LINEUP):
        return f"is like {like!r}, which is no row of the lineup{nearest(str(like), LINEUP)}"
    return None


def _settings(table: Mapping[str, Any], lineup: Mapping[str, MethodConfig]) -> dict[str, Any]:
    if "name" in table:
        return dict(table)
    changes = {key: value for key, value in table.items() if key != "like"}
    return plain_values(lineup[table["like"]]) | changes


def _inline(method: MethodConfig) -> str:
    values = {k: v for k, v in plain_values(method).items() if v != {}}
    pairs = (tomli_w.dumps({key: value}).split() for key, value in values.items())
    return "{ " + ", ".join(" ".join(words) for words in pairs) + " }"


def _key(name: str) -> str:
    """A name as TOML writes it: a dot would begin another table."""
    return f'"{name}"' if re.search(r"[^A-Za-z0-9_-]", name) else name
