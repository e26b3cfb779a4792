"""How far somebody has read: places of books, as pages and as people name them."""
