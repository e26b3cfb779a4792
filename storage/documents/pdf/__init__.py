"""Reading of PDF pages: words, lines, tables, scans."""
