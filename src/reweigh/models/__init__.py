"""Students: the paper's networks and small ones for a CPU; `reweigh.models.build` knows them."""
