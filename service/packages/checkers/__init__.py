"""Programs that run inside the checker's jail. They import nothing but the standard library."""
