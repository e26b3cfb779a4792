"""Parts of a question's run: its attempts, its steps as jobs, and retries."""
