"""An answer after its draft: built, kept in the history, posted, and shown with what stands around its quotes."""
