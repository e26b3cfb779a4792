"""HTML as text, without the site's furniture."""
