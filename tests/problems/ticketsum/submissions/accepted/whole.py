import sys

_, *tickets = map(int, sys.stdin.read().split())
print(sum(tickets))
