"""What runs inside the jail: standard library only, never imported with the rest of the package there."""
