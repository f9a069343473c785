print("cold" if int(input()) < 10 else "warm")
