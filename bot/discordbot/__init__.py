"""Discord: client (talks), translate (event in, pure), render (answer out, pure)."""
