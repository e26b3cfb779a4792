"""What readers and extractors share about plain text."""
