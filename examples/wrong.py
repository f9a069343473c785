"""Forgets that numbers may have fractions."""

input()
print(sum(int(float(word)) for word in input().split()))
