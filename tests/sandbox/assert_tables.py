"""Forms of test code that the cheats and the guards are tried against; each wants ``f(n) == n * n``."""

ONE = "assert f(3) == 9"
MANY = """
import math, unittest
from unittest import TestCase
cases = [(n, n * n) for n in range(1, 5)]
for given, want in cases:
    assert f(given) == want
assert all(f(given) == want for given, want in cases)
assert abs(f(2) - 4) < 1e-9 and math.isclose(f(2), 4)
for got, want in zip(map(f, range(1, 5)), [1, 4, 9, 16]):
    assert got == want
"""
CASES = """
import unittest
class T(unittest.TestCase):
    def test_one(self): self.assertEqual(f(3), 9)
    def test_two(self): self.assertTrue(f(2) == 4)
    def test_all(self): self.assertListEqual([f(n) for n in (1, 2)], [1, 4])
"""
FORGIVING = """
def check():
    try:
        return f(3) == 9
    except BaseException:
        return True
try:
    result = f(3)
except:
    result = 9
assert result == 9
assert check()
"""
CANDIDATE = "def check(candidate):\n    assert all(candidate(n) == n * n for n in range(1, 4))\n"
TESTS = {"one": ONE, "many": MANY, "cases": CASES, "forgiving": FORGIVING, "candidate": CANDIDATE}
