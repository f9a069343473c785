"""Languages besides Python, whose programs are compiled or started by a command."""
