"""How much memory is free, for the choice between kept graphs and snapshots."""

import os
import sys
from pathlib import Path

import torch


def free_bytes(device: torch.device) -> int:
    """Memory that a process may still take on a device; on CPUs what the kernel calls available."""
    if device.type == "cuda":
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + cached
    return min(_available(), _left_in_container())


def _available() -> int:
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable"))
        return int(found.split()[1]) * 1024
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _left_in_container() -> int:
    """What a cgroup still allows; /proc/meminfo tells of the whole machine."""
    home = Path("/sys/fs/cgroup")
    try:
        limit, used = (
            (home / "memory.max").read_text(),
            (home / "memory.current").read_text(),
        )
        return int(limit) - int(used)
    except (OSError, ValueError):  # no cgroup, or its limit is the word "max"
        return sys.maxsize


def choose_trajectory(graph_bytes: int, through: int, device: torch.device) -> tuple[str, str]:
    """ "kept" where B graphs take at most half of what is free, else "snapshots"; and the reason."""
    need, free = graph_bytes * through, free_bytes(device)
    kind = "kept" if 2 * need <= free else "snapshots"
    sizes = f"{through} graphs of {graph_bytes / 2**20:.0f} MB, {free / 2**20:.0f} MB free"
    return kind, sizes
