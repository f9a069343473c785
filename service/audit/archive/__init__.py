"""Where audits and their reports are kept: in a folder, or beside the queue in Redis."""
