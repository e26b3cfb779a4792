"""What the pages of PDFs show: words, lines, tables, scans."""
