import sys

_, *tickets = map(int, sys.stdin.read().split())
total = 0
while total != sum(tickets):
    total += 1
print(total)
