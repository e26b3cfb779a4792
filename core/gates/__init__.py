"""What the inbox decides by: whether it is for us, whether it is a question, whether it is too often."""
