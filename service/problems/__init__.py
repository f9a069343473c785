"""Problems that are stored once and named by many submissions."""
