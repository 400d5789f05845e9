"""One static folder that shows what runs came to: opens from disk, needs no network."""
