a, b = map(float, input().split())
print(f"{(a + b) / 2 + 3e-7:.9e}")
