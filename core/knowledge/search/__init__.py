"""Searches as people ask them, and documents as people call them."""
