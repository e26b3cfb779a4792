"""The real `footnote serve`, killed, stopped and out of disk while people ask it through its web chat."""
