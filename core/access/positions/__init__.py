"""Reading positions: places of books, as pages and as people name them."""
