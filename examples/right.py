"""Reads how many numbers follow and prints their sum."""

from decimal import Decimal

input()
print(sum(map(Decimal, input().split())))
