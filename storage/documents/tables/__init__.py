"""Tables in texts, and the figures in them."""
