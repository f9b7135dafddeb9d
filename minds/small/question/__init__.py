"""What is asked: a turn taken apart, put into words of its own, and read."""
