"""Models that run on this machine: where they are, how they are loaded, and what they are asked."""
