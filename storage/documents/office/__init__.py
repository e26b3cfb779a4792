"""Text of Office files, shared by several readers."""
