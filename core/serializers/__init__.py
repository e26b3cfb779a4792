"""The JSON shapes of the command line, the API and the exports."""
