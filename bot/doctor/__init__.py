"""What `footnote doctor` examines; what fails says what to do next."""
