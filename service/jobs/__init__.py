"""Jobs: requests whose answers are fetched later, or more than once."""
