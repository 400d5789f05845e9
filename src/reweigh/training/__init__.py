"""Everything around the gradient: batches, schedules, the loop, the run folder."""
