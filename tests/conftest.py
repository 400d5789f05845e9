"""One thread per process, for tiny nets: set before anything imports torch."""

import os

os.environ["OMP_NUM_THREADS"] = "1"
