"""Pages of PDFs as pictures, for people and for models; drawn in a child process with limits."""
