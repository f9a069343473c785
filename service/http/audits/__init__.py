"""The HTTP half of audits: requests in, child processes that carry them out, reports kept on disk."""
