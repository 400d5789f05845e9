"""`python -m reweigh` is the command line, as `reweigh` is."""

from reweigh.cli.start import start

start()
