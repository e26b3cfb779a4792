"""What runs a question: its tries, its steps as jobs, when to try again."""
