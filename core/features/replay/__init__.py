"""The material of an answer: recorded, kept, played again."""
