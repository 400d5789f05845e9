"""`reweigh doctor`: what is here and what works, for the user and for bug reports."""

import shutil
import sysconfig
from pathlib import Path
from typing import Any

from reweigh.cli import options
from reweigh.cli.screen import screen


def doctor(
    as_json: options.Json = False,
) -> None:
    """Show versions, devices, free space, and which derivatives work on each device.

    The fused attention kernels have no second derivative: a "no" for the
    default kernel is usual, and replays use the MATH kernel instead.

    [bold]Example[/bold]

    reweigh doctor --json > doctor.json
    """
    found = examine()
    if as_json:
        screen.show_json(found)
        return
    for table in _tables(found):
        screen.show(table)


def examine() -> dict[str, Any]:
    """Everything that doctor tells, as plain values."""
    import torch

    from reweigh.cli.probes import probe
    from reweigh.metagrad.memory import free_bytes
    from reweigh.training.environment import devices, environment, free_disk

    return {
        "environment": environment(),
        "free_disk": free_disk(Path()),
        "free_memory": free_bytes(torch.device("cpu")),
        "compile": compile_obstacle(),
        "derivatives": {device: probe(device) for device in devices()},
    }


def compile_obstacle() -> str | None:
    """What torch.compile lacks on the CPU, or None; nothing is compiled to find out."""
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        return "no C++ compiler was found"
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    return None if header.is_file() else "Python's headers (Python.h) are not installed"


def _tables(found: dict[str, Any]) -> list[Any]:
    from rich.table import Table

    env = found["environment"]
    facts = Table(box=None, show_header=False)
    for name in ("reweigh", "commit", "python", "platform"):
        facts.add_row(name, str(env[name]))
    for name, version in env["packages"].items():
        facts.add_row(name, version or "not installed")
    facts.add_row("threads", f"{env['threads']} of {env['cores']} cores")
    facts.add_row("free disk", _gigabytes(found["free_disk"]))
    facts.add_row("free memory", _gigabytes(found["free_memory"]))
    facts.add_row("torch.compile", _verdict(found["compile"]))
    works = Table("what works", *(f"{d} ({env['devices'][d]})" for d in found["derivatives"]))
    for name in next(iter(found["derivatives"].values())):
        works.add_row(
            name, *(_verdict(found["derivatives"][d][name]) for d in found["derivatives"])
        )
    return [facts, works]


def _verdict(obstacle: str | None) -> str:
    return "[green]yes[/green]" if obstacle is None else f"[yellow]no[/yellow]: {obstacle}"


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:.1f} GB"
