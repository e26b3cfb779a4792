"""What happens to a message around its answer: each stands around the answer service in the same form."""
