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
from reweigh.errors import UsageError

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


def choose_device(name: str) -> torch.device:
    """`auto` takes the first GPU, else the CPU."""
    if name == "auto":
        return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if not _is_here(name):
        raise UsageError(
            f"device = {name!r}, but torch can use only {', '.join(devices())} here; "
            "give one of these, or auto."
        )
    return torch.device(name)


def device_after(run: str, asked: str | None = None) -> torch.device:
    """For what comes after a run: the device asked for, else the run's if it is here, else any."""
    return choose_device(asked or (run if _is_here(run) else "auto"))


def _is_here(name: str) -> bool:
    return any(device == name or device.startswith(f"{name}:") for device in devices())


def device_name(device: str) -> str:
    """What the device calls itself."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    return platform.processor() or platform.machine()


def machine(device: torch.device) -> str:
    """What computes there: a GPU's name, or the processor's and which of its instructions torch uses."""
    if device.type != "cpu":
        return device_name(str(device))
    return f"{_processor()}, {torch.backends.cpu.get_cpu_capability()}"


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, device_name("cpu"))


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
