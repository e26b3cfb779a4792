"""Notes of meetings: who was there, what was decided, who does what."""
