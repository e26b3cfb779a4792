"""Output to Discord: posts, their destinations, drafts, and the meaning of refusals."""
