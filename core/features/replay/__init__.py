"""What an answer was made from: recorded, kept, played again."""
