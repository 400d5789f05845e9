"""From files to a fair problem: readers, trusted split, noise, and checks that nothing leaks.

`prepare.prepare(DataSpec(...))` is the way in and `fetch.get(name)` the download. Here is only what
needs no numpy, so that listing the data sets is instant.
"""

from reweigh.data.catalogue import names

__all__ = ["names"]
