"""An answer after its draft: built, kept in the history, posted, and shown with the text around its quotes."""
