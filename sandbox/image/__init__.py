"""What guests are made of: the image, and the list of system calls that they may make."""
