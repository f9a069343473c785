"""A report as one HTML page that needs nothing else: no network, no fonts, no libraries.

Outputs of programs are in it, so everything is escaped, and the page's own policy lets no script run but its own.
"""
