"""How good search and answers are over a file of questions with gold answers (`footnote eval`)."""
