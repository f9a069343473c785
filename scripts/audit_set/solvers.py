"""Small problems on text: functions from input to answer, and faulty versions of some.

A function's source becomes part of every program, so each is complete in itself.
"""

from __future__ import annotations


def sum_of_line(text: str) -> int:
    """Add up."""
    return sum(map(int, text.split()))


def sum_without_last(text: str) -> int:
    """Forget one."""
    return sum(map(int, text.split()[:-1]))


def sum_of_absolutes(text: str) -> int:
    """Forget signs."""
    return sum(abs(int(word)) for word in text.split())


def gcd_of_two(text: str) -> int:
    """Find the greatest common divisor."""
    a, b = map(int, text.split())
    while b:
        a, b = b, a % b
    return a


def smaller_of_two(text: str) -> int:
    """Take the smaller."""
    return min(map(int, text.split()))


def steps_of_collatz(text: str) -> int:
    """Count steps to 1."""
    number, steps = int(text), 0
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        steps += 1
    return steps


def collatz_off_by_one(text: str) -> int:
    """Count one too many."""
    number, steps = int(text), 1
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        steps += 1
    return steps


def power_of_two(text: str) -> int:
    """Raise 2 to a power."""
    return 1 << int(text)


def power_by_float(text: str) -> int:
    """Lose digits in a double."""
    return int(2.0 ** int(text) * 1.0000000000000002)


def factorial(text: str) -> int:
    """Multiply up."""
    product = 1
    for factor in range(2, int(text) + 1):
        product *= factor
    return product


def factorial_modulo(text: str) -> int:
    """Reduce where nobody asked."""
    product = 1
    for factor in range(2, int(text) + 1):
        product = product * factor % (10**9 + 7)
    return product


def inversions(text: str) -> int:
    """Count pairs in the wrong order."""
    numbers = list(map(int, text.split()))
    return sum(a > b for i, a in enumerate(numbers) for b in numbers[i + 1 :])


def inversions_or_equal(text: str) -> int:
    """Count equal pairs as well."""
    numbers = list(map(int, text.split()))
    return sum(a >= b for i, a in enumerate(numbers) for b in numbers[i + 1 :])


def largest_gap(text: str) -> int:
    """Find the largest difference of neighbours in order."""
    numbers = sorted(map(int, text.split()))
    return max(b - a for a, b in zip(numbers, numbers[1:]))


def gap_unsorted(text: str) -> int:
    """Forget to sort."""
    numbers = list(map(int, text.split()))
    return max(b - a for a, b in zip(numbers, numbers[1:]))


def number_at_limit(text: str) -> int:
    """Multiply and add beyond 64 bits."""
    a, b, c = map(int, text.split())
    return a * b + c


def number_wrapped(text: str) -> int:
    """Wrap at 64 bits."""
    a, b, c = map(int, text.split())
    return (a * b + c + 2**63) % 2**64 - 2**63


def running_sums(text: str) -> list[int]:
    """Sum prefixes."""
    sums, total = [], 0
    for word in text.split():
        total += int(word)
        sums.append(total)
    return sums


def sums_from_zero(text: str) -> list[int]:
    """Start one early."""
    sums, total = [], 0
    for word in text.split():
        sums.append(total)
        total += int(word)
    return sums


def divisors(text: str) -> list[int]:
    """List divisors."""
    number = int(text)
    return [d for d in range(1, number + 1) if number % d == 0]


def proper_divisors(text: str) -> list[int]:
    """Forget the number itself."""
    number = int(text)
    return [d for d in range(1, number) if number % d == 0] + [0]


def rotated(text: str) -> list[int]:
    """Rotate by one."""
    numbers = list(map(int, text.split()))
    return numbers[1:] + numbers[:1]


def rotated_back(text: str) -> list[int]:
    """Rotate the other way."""
    numbers = list(map(int, text.split()))
    return numbers[-1:] + numbers[:-1]


def digits_of_squares(text: str) -> list[int]:
    """Sum the digits of squares."""
    return [sum(map(int, str(int(word) ** 2))) for word in text.split()]


def histogram(text: str) -> list[int]:
    """Count each of the digits 0 to 4."""
    return [text.split().count(str(digit)) for digit in range(5)]


def histogram_of_text(text: str) -> list[int]:
    """Count inside words as well."""
    return [text.count(str(digit)) for digit in range(5)]


def times_table(text: str) -> list[list[int]]:
    """Multiply rows and columns."""
    rows, columns = map(int, text.split())
    return [[row * column for column in range(1, columns + 1)] for row in range(1, rows + 1)]


def table_from_zero(text: str) -> list[list[int]]:
    """Start at 0."""
    rows, columns = map(int, text.split())
    return [[row * column for column in range(columns)] for row in range(rows)]


def spiral(text: str) -> list[list[int]]:
    """Fill a square from outside to inside."""
    size = int(text)
    grid = [[0] * size for _ in range(size)]
    row, column, step_row, step_column = 0, 0, 0, 1
    for number in range(1, size * size + 1):
        grid[row][column] = number
        if (
            not (0 <= row + step_row < size and 0 <= column + step_column < size)
            or grid[row + step_row][column + step_column]
        ):
            step_row, step_column = step_column, -step_row
        row, column = row + step_row, column + step_column
    return grid


def row_by_row(text: str) -> list[list[int]]:
    """Fill it line by line."""
    size = int(text)
    return [[size * row + column + 1 for column in range(size)] for row in range(size)]


def pascal(text: str) -> list[list[int]]:
    """Build a square of binomials."""
    size = int(text)
    rows = [[1] * size]
    for _ in range(size - 1):
        row = [1]
        for above in rows[-1][1:]:
            row.append(row[-1] + above)
        rows.append(row)
    return rows


def staircase(text: str) -> list[str]:
    """Draw steps."""
    return ["#" * row for row in range(1, int(text) + 1)]


def steps_down(text: str) -> list[str]:
    """Draw them downwards."""
    return ["#" * row for row in range(int(text), 0, -1)]


def checkerboard(text: str) -> list[str]:
    """Draw a board."""
    size = int(text)
    return ["".join("#."[(row + column) % 2] for column in range(size)) for row in range(size)]


def board_inverted(text: str) -> list[str]:
    """Begin with the other colour."""
    size = int(text)
    return ["".join(".#"[(row + column) % 2] for column in range(size)) for row in range(size)]


def frame(text: str) -> list[str]:
    """Draw a frame."""
    height, width = map(int, text.split())
    inside = ["#" + "." * (width - 2) + "#" for _ in range(height - 2)]
    return ["#" * width, *inside, "#" * width]


def mean(text: str) -> float:
    """Average."""
    numbers = list(map(float, text.split()))
    return sum(numbers) / len(numbers)


def mean_by_integers(text: str) -> float:
    """Round the average down."""
    numbers = list(map(float, text.split()))
    return float(sum(numbers) // len(numbers))


def distance(text: str) -> float:
    """Measure from point to point."""
    a, b, c, d = map(float, text.split())
    return float(((a - c) ** 2 + (b - d) ** 2) ** 0.5)


def city_distance(text: str) -> float:
    """Measure along streets."""
    a, b, c, d = map(float, text.split())
    return abs(a - c) + abs(b - d)


def growth(text: str) -> float:
    """Compound interest."""
    capital, rate, years = text.split()
    capital_at_end = float(capital)
    for _ in range(int(years)):
        capital_at_end *= 1 + float(rate) / 100
    return capital_at_end


def simple_interest(text: str) -> float:
    """Forget to compound."""
    capital, rate, years = text.split()
    return float(capital) * (1 + float(rate) / 100 * int(years))


def small_probability(text: str) -> float:
    """Multiply chances."""
    product = 1.0
    for word in text.split():
        product *= float(word)
    return product * 1000


def halves(text: str) -> list[float]:
    """Halve and third each number."""
    numbers = list(map(float, text.split()))
    return [number / 3 for number in numbers]


def square_roots(text: str) -> list[float]:
    """Take roots."""
    return [float(word) ** 0.5 for word in text.split()]


def cube_roots(text: str) -> list[float]:
    """Take other roots."""
    return [float(word) ** (1 / 3) for word in text.split()]


def is_palindrome(text: str) -> str:
    """Say whether it reads backwards."""
    word = text.strip()
    return "YES" if word == word[::-1] else "NO"


def same_ends(text: str) -> str:
    """Look at the ends only."""
    word = text.strip()
    return "YES" if word[0] == word[-1] else "NO"


def is_balanced(text: str) -> str:
    """Say whether brackets match."""
    depth = 0
    for sign in text.strip():
        depth += 1 if sign == "(" else -1
        if depth < 0:
            return "NO"
    return "YES" if depth == 0 else "NO"


def same_counts(text: str) -> str:
    """Only count brackets."""
    return "YES" if text.count("(") == text.count(")") else "NO"


def is_prime(text: str) -> str:
    """Say whether it is prime."""
    number = int(text)
    return "YES" if number > 1 and all(number % d for d in range(2, int(number**0.5) + 1)) else "NO"


def is_odd(text: str) -> str:
    """Take odd for prime."""
    return "YES" if int(text) % 2 else "NO"


def winner(text: str) -> str:
    """Name who has the most points."""
    points = dict.fromkeys(text.split()[::2], 0)
    words = text.split()
    for name, score in zip(words[::2], words[1::2]):
        points[name] += int(score)
    return max(points, key=points.get)  # type: ignore[arg-type]


def best_single(text: str) -> str:
    """Name who has the best single score."""
    words = text.split()
    return max(zip(map(int, words[1::2]), words[::2]))[1]


def longest_word(text: str) -> str:
    """Find the first longest word."""
    return max(text.split(), key=len)


def last_longest(text: str) -> str:
    """Find the last longest word."""
    return max(reversed(text.split()), key=len)


def caesar(text: str) -> str:
    """Shift letters by three."""
    return "".join(chr((ord(c) - 97 + 3) % 26 + 97) for c in text.strip())


def caesar_without_wrap(text: str) -> str:
    """Forget to start over at z."""
    return "".join(chr(ord(c) + 3) for c in text.strip())


def words_backwards(text: str) -> list[str]:
    """Turn the order of words around."""
    return text.split()[::-1]


def letters_backwards(text: str) -> list[str]:
    """Turn the words themselves around."""
    return [word[::-1] for word in text.split()]


def by_length(text: str) -> list[str]:
    """Order words by length, stably."""
    return sorted(text.split(), key=len)


def by_alphabet(text: str) -> list[str]:
    """Order words by their letters."""
    return sorted(text.split())


def to_binary(text: str) -> str:
    """Write eight bits."""
    return f"{int(text):08b}"


def to_binary_backwards(text: str) -> str:
    """Write the lowest bit first."""
    return f"{int(text):08b}"[::-1]


def gray_code(text: str) -> str:
    """Write a Gray code of eight bits."""
    number = int(text)
    return f"{number ^ number >> 1:08b}"


def numbered_sum(text: str) -> str:
    """Answer with a label."""
    return f"Case #1: {sum(map(int, text.split()))}"


def numbered_product(text: str) -> str:
    """Multiply instead."""
    product = 1
    for word in text.split():
        product *= int(word)
    return f"Case #1: {product}"


def circle_area(text: str) -> float:
    """Measure a disc."""
    return 3.141592653589793 * float(text) ** 2


def circumference(text: str) -> float:
    """Measure around it."""
    return 2 * 3.141592653589793 * float(text)


def primes_up_to(text: str) -> list[int]:
    """List primes."""
    return [n for n in range(2, int(text) + 1) if all(n % d for d in range(2, n))]


def odds_up_to(text: str) -> list[int]:
    """List odd numbers."""
    return list(range(3, int(text) + 1, 2))


def pairs_of_sum(text: str) -> list[list[int]]:
    """List pairs that add up."""
    total = int(text)
    return [[a, total - a] for a in range(1, total) if a < total - a]


def pairs_of_any_order(text: str) -> list[list[int]]:
    """List each pair twice."""
    total = int(text)
    return [[a, total - a] for a in range(1, total)]


def anagram_lines(text: str) -> list[str]:
    """List words with repeated letters, as often as they come."""
    return [word for word in text.split() if len(set(word)) < len(word)]


def all_lines(text: str) -> list[str]:
    """List all words."""
    return text.split()


def quiet(text: str) -> str:
    """Print nothing at all."""
    return text[:0]
