"""The machine and the versions that a result was made with."""

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from reweigh import __version__
from reweigh.distributed.group import world

_PACKAGES = ("torch", "numpy", "scikit-learn", "pydantic", "typer", "rich", "safetensors")


def environment() -> dict[str, Any]:
    """Versions, commit, threads and devices: what must be equal for equal bits."""
    return {
        "reweigh": __version__,
        "commit": _commit(Path(__file__).parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "threads": torch.get_num_threads(),
        "world_size": world(),
        "cores": os.cpu_count(),
        "devices": {name: device_name(name) for name in devices()},
    }


def devices() -> list[str]:
    """The devices that torch can use here, as it names them."""
    found = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    return [*found, "mps"] if torch.backends.mps.is_available() else found


def device_name(device: str) -> str:
    """What the device calls itself."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    return platform.processor() or platform.machine()


def free_disk(folder: Path) -> int:
    """Bytes free on the disk that holds `folder`."""
    return shutil.disk_usage(folder).free


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit(folder: Path) -> str | None:
    """The commit of a source checkout, `+dirty` if files differ; None for an installed package."""
    git = shutil.which("git")
    if git is None or "site-packages" in folder.parts:
        return None
    command = [git, "-C", str(folder), "describe", "--always", "--abbrev=40", "--dirty=+dirty"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (fixed)
    return answer.stdout.strip() or None
