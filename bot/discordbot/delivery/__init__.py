"""What goes out to Discord: posts, their destinations, drafts, and the meaning of refusals."""
