for step in range(int(input())):
    print("#" * (step + 1))
