"""The repositories in SQL, one module for each feature."""
