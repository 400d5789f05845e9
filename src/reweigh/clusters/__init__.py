"""Clusters that exist already, Ray's or Dask's, on which the runs of a table are done."""
