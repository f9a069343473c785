a, b = map(float, input().split())
print(round((a + b) / 2, 1))
