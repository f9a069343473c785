"""Child processes of the service and the frames in which it talks to them."""
