"""How much memory is free, for the choice between kept graphs and snapshots."""

import os

import torch


def free_bytes(device: torch.device) -> int:
    """Memory that a process may still take on a device; on CPUs what the kernel calls available."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable"))
        return int(found.split()[1]) * 1024
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def choose_trajectory(graph_bytes: int, through: int, device: torch.device) -> tuple[str, str]:
    """ "kept" where B graphs take at most half of what is free, else "snapshots"; and the reason."""
    need, free = graph_bytes * through, free_bytes(device)
    kind = "kept" if 2 * need <= free else "snapshots"
    sizes = f"{through} graphs of {graph_bytes / 2**20:.0f} MB, {free / 2**20:.0f} MB free"
    return kind, sizes
