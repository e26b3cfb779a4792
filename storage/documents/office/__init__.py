"""What Word, OpenDocument, RTF, sheets and slides say, as text."""
