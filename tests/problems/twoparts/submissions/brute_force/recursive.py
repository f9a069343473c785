def search(a, n):
    return (a, n - a) if a * 2 >= n else search(a + 1, n)


n = int(input())
while n > 50:
    pass
print(*search(1, n))
