"""What each of the backends does in a way of its own."""
