while True:
    print("6" * 1000)
