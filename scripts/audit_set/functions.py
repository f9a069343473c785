"""Small problems on values: functions from arguments to results, and faulty versions of some.

A function's source becomes part of every program, so each is complete in itself.
"""

from __future__ import annotations

from typing import Any


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def subtract(a: int, b: int) -> int:
    """Subtract instead."""
    return a - b


def triangle(n: int) -> int:
    """Sum 1 to n."""
    return n * (n + 1) // 2


def triangle_short(n: int) -> int:
    """Sum 1 to n - 1."""
    return n * (n - 1) // 2


def largest_product(numbers: list[int]) -> int:
    """Multiply the two largest."""
    a, b = sorted(numbers)[-2:]
    return a * b


def two_sum(numbers: list[int], target: int) -> list[int]:
    """Find two indices."""
    seen: dict[int, int] = {}
    for index, number in enumerate(numbers):
        if target - number in seen:
            return [seen[target - number], index]
        seen[number] = index
    return []


def two_numbers(numbers: list[int], target: int) -> list[int]:
    """Answer numbers instead of indices."""
    for a in numbers:
        if target - a in numbers and 2 * a != target:
            return [a, target - a]
    return []


def doubled(numbers: list[int]) -> list[int]:
    """Double everything."""
    return [2 * number for number in numbers]


def squared(numbers: list[int]) -> list[int]:
    """Square everything."""
    return [number * number for number in numbers]


def with_duplicates(words: list[str]) -> list[str]:
    """Keep words of more than one letter."""
    return [word for word in words if len(word) > 1]


def transposed(rows: list[list[int]]) -> list[list[int]]:
    """Swap rows and columns."""
    return [list(column) for column in zip(*rows)]


def turned(rows: list[list[int]]) -> list[list[int]]:
    """Turn by a quarter."""
    return [list(column)[::-1] for column in zip(*rows)]


def intervals(points: list[int]) -> list[list[int]]:
    """Join neighbours to intervals."""
    found: list[list[int]] = []
    for point in sorted(points):
        if found and point == found[-1][1] + 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def average(numbers: list[float]) -> float:
    """Average."""
    return sum(numbers) / len(numbers)


def middle(numbers: list[float]) -> float:
    """Take the middle one."""
    return sorted(numbers)[len(numbers) // 2]


def tenths(count: int) -> list[float]:
    """Count in tenths, exactly."""
    return [round(index * 0.1, 1) for index in range(1, count + 1)]


def ninths(count: int) -> list[float]:
    """Count in ninths."""
    return [index / 9 for index in range(1, count + 1)]


def slug(title: str) -> str:
    """Make a slug."""
    return "-".join(title.lower().split())


def slug_with_case(title: str) -> str:
    """Keep the case."""
    return "-".join(title.split())


def initials(name: str) -> str:
    """Take initials."""
    return "".join(part[0].upper() for part in name.split())


def padded(number: int) -> str:
    """Write three digits."""
    return f"{number:03d}"


def unpadded(number: int) -> str:
    """Write as many digits as there are."""
    return str(number)


def counted(words: list[str]) -> dict[str, int]:
    """Count words."""
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def lengths(words: list[str]) -> dict[str, int]:
    """Measure words instead."""
    return {word: len(word) for word in words}


def grouped(numbers: list[int]) -> dict[int, list[int]]:
    """Group by remainder."""
    groups: dict[int, list[int]] = {}
    for number in numbers:
        groups.setdefault(number % 3, []).append(number)
    return groups


def is_sorted(numbers: list[int]) -> bool:
    """Say whether they rise."""
    return all(a <= b for a, b in zip(numbers, numbers[1:]))


def ends_rise(numbers: list[int]) -> bool:
    """Look at the ends only."""
    return not numbers or numbers[0] <= numbers[-1]


def parity(number: int) -> int:
    """Tell the remainder of a division by 2."""
    return number % 2


def remainder(number: int) -> int:
    """Divide by 3 instead."""
    return number % 3


def find(numbers: list[int], wanted: int) -> int | None:
    """Find an index, or nothing."""
    return numbers.index(wanted) if wanted in numbers else None


def subsets(numbers: list[int]) -> list[list[int]]:
    """List all subsets."""
    found: list[list[int]] = [[]]
    for number in numbers:
        found += [[*subset, number] for subset in found]
    return found


def subsets_of_two(numbers: list[int]) -> list[list[int]]:
    """List some subsets."""
    return [[], *([number] for number in numbers)]


def common(first: list[int], second: list[int]) -> list[int]:
    """List what both have, as often as both have it."""
    rest = list(second)
    found = []
    for number in first:
        if number in rest:
            rest.remove(number)
            found.append(number)
    return found


def profile(name: str, scores: list[float]) -> dict[str, Any]:
    """Describe somebody."""
    return {"name": name, "mean": sum(scores) / len(scores), "scores": scores, "best": max(scores)}


def nothing(numbers: list[int]) -> list[int]:
    """Keep negative numbers."""
    return [number for number in numbers if number < 0]


def big(exponent: int) -> int:
    """Raise 3 to a power."""
    return int(3**exponent)


def big_by_float(exponent: int) -> int:
    """Lose digits."""
    return int(3.0**exponent) + 1
