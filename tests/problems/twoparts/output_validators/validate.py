"""Accepts any two whole numbers that add up to the input."""

import sys

whole = int(open(sys.argv[1]).read())
feedback_dir, flags = sys.argv[3], sys.argv[4:]


def reject(message):
    with open(feedback_dir + "judgemessage.txt", "w") as file:
        file.write(message)
    sys.exit(43)


words = sys.stdin.read().split()
if len(words) != 2:
    reject(f"expected two parts, found {len(words)}")
try:
    parts = [int(word) for word in words]
except ValueError:
    reject("a part is no whole number")
if "positive" in flags and min(parts) < 1:
    reject("a part is not positive")
if sum(parts) != whole:
    reject(f"{parts[0]} + {parts[1]} is not {whole}")
sys.exit(42)
