for step in range(int(input())):
    print(" " * step + "#" * (step + 1))
