"""HTML as text, without the site's boilerplate."""
