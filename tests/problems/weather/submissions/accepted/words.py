print("Cold" if int(input()) < 10 else "Warm")
