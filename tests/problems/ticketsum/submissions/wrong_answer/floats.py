import sys

_, *tickets = map(float, sys.stdin.read().split())
print(int(sum(tickets)))
