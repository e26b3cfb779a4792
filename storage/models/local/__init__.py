"""Models that run on this machine: embedder, cross-encoder, sentence ranker."""
