print("five five")
