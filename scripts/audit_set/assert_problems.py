"""Problems of the mode ``assert``: test code that calls the program's functions."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.audit_set.model import Built

# name -> (tests, right programs, wrong programs with their verdicts)
TABLE: dict[str, tuple[list[str], dict[str, str], dict[str, tuple[str, str]]]] = {
    "square": (
        ["assert square(3) == 9", "assert square(-2) == 4", "assert square(0) == 0"],
        {
            "plain": "def square(n):\n    return n * n\n",
            "power": "def square(n):\n    return n ** 2\n",
            "lambda": "square = lambda n: abs(n) * abs(n)\n",
            "prints": "def square(n):\n    print('squaring', n)\n    return n * n\n",
            "loop": "def square(n):\n    return sum(abs(n) for _ in range(abs(n)))\n",
        },
        {
            "doubles": ("def square(n):\n    return n * 2\n", "WA"),
            "loses_zero": ("def square(n):\n    return n * n or 1\n", "WA"),
            "text": ("def square(n):\n    return str(n * n)\n", "WA"),
            "nothing": ("def square(n):\n    n * n\n", "WA"),
            "missing": ("def squared(n):\n    return n * n\n", "RE"),
            "raises": ("def square(n):\n    raise ValueError(n)\n", "RE"),
            "one_argument_more": ("def square(n, m):\n    return n * n\n", "RE"),
        },
    ),
    "unique": (
        [
            "assert unique([1, 2, 1]) == [1, 2]",
            "assert unique([]) == []",
            "assert sorted(unique([3, 3])) == [3]",
        ],
        {
            "plain": "def unique(items):\n    return list(dict.fromkeys(items))\n",
            "loop": "def unique(items):\n    found = []\n    for item in items:\n"
            "        if item not in found:\n            found.append(item)\n    return found\n",
            "counted": "from collections import Counter\n\ndef unique(items):\n    return [*Counter(items)]\n",
        },
        {
            "everything": ("def unique(items):\n    return items\n", "WA"),
            "only_single": (
                "def unique(items):\n    return [x for x in items if items.count(x) == 1]\n",
                "WA",
            ),
            "tuple": ("def unique(items):\n    return tuple(dict.fromkeys(items))\n", "WA"),
            "index_error": ("def unique(items):\n    return [items[len(items)]]\n", "RE"),
            "recursion": ("def unique(items):\n    return unique(items)\n", "RE"),
            "none": ("def unique(items):\n    items.sort()\n", "WA"),
        },
    ),
    "half": (
        ["assert abs(half(3) - 1.5) < 1e-9", "assert abs(half(1e-3) - 5e-4) < 1e-12"],
        {
            "plain": "def half(x):\n    return x / 2\n",
            "times": "def half(x):\n    return 0.5 * x\n",
            "fraction": "from fractions import Fraction\n\ndef half(x):\n    return float(Fraction(x) / 2)\n",
        },
        {
            "integer": ("def half(x):\n    return x // 2\n", "WA"),
            "rounded": ("def half(x):\n    return round(x / 2, 1)\n", "WA"),
            "nan": ("def half(x):\n    return float('nan')\n", "WA"),
            "divides_by_zero": ("def half(x):\n    return x / 0\n", "RE"),
        },
    ),
    "stack": (
        [
            "s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\nassert s.pop() == 1",
            "s = Stack()\nassert len(s) == 0\ns.push('a')\nassert len(s) == 1",
        ],
        {
            "list": "class Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, item):\n"
            "        self.items.append(item)\n    def pop(self):\n        return self.items.pop()\n"
            "    def __len__(self):\n        return len(self.items)\n",
            "deque": "from collections import deque\n\nclass Stack:\n    def __init__(self):\n"
            "        self.items = deque()\n    def push(self, item):\n        self.items.appendleft(item)\n"
            "    def pop(self):\n        return self.items.popleft()\n    def __len__(self):\n"
            "        return len(self.items)\n",
        },
        {
            "queue": (
                (
                    "class Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, item):\n"
                    "        self.items.append(item)\n    def pop(self):\n        return self.items.pop(0)\n"
                    "    def __len__(self):\n        return len(self.items)\n"
                ),
                "WA",
            ),
            "shared": (
                (
                    "class Stack:\n    items = []\n    def push(self, item):\n        self.items.append(item)\n"
                    "    def pop(self):\n        return self.items.pop(0)\n    def __len__(self):\n"
                    "        return len(self.items)\n"
                ),
                "WA",
            ),
            "no_pop": ("class Stack:\n    def push(self, item):\n        self.item = item\n", "RE"),
        },
    ),
    "rejects-bad-input": (
        [
            "try:\n    parse('x')\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('no error')",
            "assert parse('12') == 12",
        ],
        {
            "plain": "def parse(text):\n    return int(text)\n",
            "checked": "def parse(text):\n    if text == 'x':\n        raise ValueError\n    return int(text)\n",
        },
        {
            "swallows": (
                "def parse(text):\n    try:\n        return int(text)\n    except ValueError:\n        return 0\n",
                "WA",
            ),
            "other_error": (
                "def parse(text):\n    if text == 'x':\n        raise KeyError(text)\n    return int(text)\n",
                "RE",
            ),
            "text": ("def parse(text):\n    int(text)\n    return text\n", "WA"),
        },
    ),
    "anagrams": (
        [
            "assert anagrams('listen', 'silent')",
            "assert not anagrams('aab', 'abb')",
            "assert anagrams('', '') is True",
        ],
        {
            "sorted": "def anagrams(a, b):\n    return sorted(a) == sorted(b)\n",
            "counted": "from collections import Counter\n\ndef anagrams(a, b):\n    return Counter(a) == Counter(b)\n",
        },
        {
            "sets": ("def anagrams(a, b):\n    return set(a) == set(b)\n", "WA"),
            "lengths": ("def anagrams(a, b):\n    return len(a) == len(b)\n", "WA"),
            "always": ("def anagrams(a, b):\n    return True\n", "WA"),
            "attribute_error": ("def anagrams(a, b):\n    return a.letters() == b.letters()\n", "RE"),
        },
    ),
}
EQUAL = (
    "class Same:\n    def __eq__(self, other):\n        return True\n"
    "    def __ne__(self, other):\n        return False\n"
)
# Programs that want to pass without solving anything; {name} is the tested function.
CHEATS = {
    "exits": ("import sys\nsys.exit(0)\n", ("RE", "CE")),
    "exits_later": ("import sys\n\ndef {name}(*args):\n    sys.exit(0)\n", ("RE",)),
    "killed": ("import os\n\ndef {name}(*args):\n    os._exit(0)\n", ("RE",)),
    "equal_to_all": (EQUAL + "\ndef {name}(*args):\n    return Same()\n", ("WA", "RE")),
}


def build() -> Iterator[Built]:
    """Build all problems."""
    for name, (tests, right, wrong) in TABLE.items():
        problem = {
            "mode": "assert",
            "tests": [{"code": code} for code in tests],
            "limits": {"cpu_time_s": 2.0},
        }
        built = Built(f"assert/{name}", "assertions", problem)
        for file, code in right.items():
            built.add(file, code)
        for file, (code, verdict) in wrong.items():
            built.add(file, code, verdict)
        if name in {"square", "unique", "half", "anagrams"}:
            for file, (code, verdicts) in CHEATS.items():
                built.add(file, code.replace("{name}", name), *verdicts)
        yield built
