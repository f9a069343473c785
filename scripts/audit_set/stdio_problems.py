"""Problems of the mode ``stdio``: a solver, its inputs, and the programs that come of every way to print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.audit_set import printed, solvers
from scripts.audit_set.model import Built, Presentation, source_of

READS = (
    "text = sys.stdin.read()",
    "text = open(0).read()",
    "text = sys.stdin.buffer.read().decode()",
    "text = ''.join(line for line in sys.stdin)",
    "text = '\\n'.join(iter(lambda: next(sys.stdin, '').rstrip('\\n'), ''))",
    "import io, os\ntext = io.TextIOWrapper(io.BytesIO(os.read(0, 1 << 20))).read()",
)
HEAD = "import json\nimport os\nimport sys\n\n\n"
# What is not wrong where nothing is to be printed.
NOT_FOR_EMPTY = ("nothing", "printed_twice", "on_stderr")


@dataclass(frozen=True, slots=True)
class Task:
    """``kind`` names how answers are printed; ``faulty`` solvers are wrong on at least one of ``inputs``."""

    name: str
    kind: str
    solver: Callable[[str], Any]
    inputs: Sequence[str]
    faulty: Sequence[Callable[[str], Any]] = ()
    comparison: dict[str, Any] | None = None
    source: str = ""


TASKS = (
    Task(
        "sum",
        "integer",
        solvers.sum_of_line,
        ["1 2\n", "-5 3 700 1000\n", "0\n", "10 -20\n"],
        [solvers.sum_without_last, solvers.sum_of_absolutes],
        source="numbers: integers",
    ),
    Task(
        "gcd",
        "integer",
        solvers.gcd_of_two,
        ["12 18\n", "7 13\n", "1000000 2500000\n"],
        [solvers.smaller_of_two],
        source="numbers: integers",
    ),
    Task(
        "collatz",
        "integer",
        solvers.steps_of_collatz,
        ["1\n", "27\n", "97\n"],
        [solvers.collatz_off_by_one],
        source="numbers: integers",
    ),
    Task(
        "power",
        "integer",
        solvers.power_of_two,
        ["3\n", "53\n", "64\n"],
        [solvers.power_by_float],
        source="numbers: large integers",
    ),
    Task(
        "factorial",
        "integer",
        solvers.factorial,
        ["3\n", "20\n", "30\n"],
        [solvers.factorial_modulo],
        source="numbers: large integers",
    ),
    Task(
        "inversions",
        "integer",
        solvers.inversions,
        ["3 1 2\n", "1 1 1\n", "5 4 3 2 1\n"],
        [solvers.inversions_or_equal],
        source="numbers: integers",
    ),
    Task(
        "gap",
        "integer",
        solvers.largest_gap,
        ["1 5 3\n", "10 -10 4\n"],
        [solvers.gap_unsorted],
        source="numbers: integers",
    ),
    Task(
        "beyond-64-bits",
        "integer",
        solvers.number_at_limit,
        ["2 3 4\n", "9007199254740993 1 0\n", "9223372036854775807 9 1\n"],
        [solvers.number_wrapped],
        source="numbers: large integers",
    ),
    Task(
        "running-sums",
        "integers",
        solvers.running_sums,
        ["1 2 3\n", "5 0 0 -5\n"],
        [solvers.sums_from_zero],
        source="sequences",
    ),
    Task(
        "divisors",
        "integers",
        solvers.divisors,
        ["12\n", "28\n", "97\n"],
        [solvers.proper_divisors],
        source="sequences",
    ),
    Task(
        "rotation",
        "integers",
        solvers.rotated,
        ["3 1 2\n", "9 9 8 7\n"],
        [solvers.rotated_back],
        source="sequences",
    ),
    Task(
        "digit-squares", "integers", solvers.digits_of_squares, ["12 7 99\n", "1 1 2 3\n"], source="sequences"
    ),
    Task(
        "histogram",
        "integers",
        solvers.histogram,
        ["1 1 4 0 12\n", "3 3 3\n"],
        [solvers.histogram_of_text],
        source="sequences",
    ),
    Task(
        "times-table",
        "rows",
        solvers.times_table,
        ["3 4\n", "2 2\n"],
        [solvers.table_from_zero],
        source="rows",
    ),
    Task("spiral", "rows", solvers.spiral, ["3\n", "4\n"], [solvers.row_by_row], source="rows"),
    Task("pascal", "rows", solvers.pascal, ["3\n", "5\n"], source="rows"),
    Task("staircase", "drawing", solvers.staircase, ["3\n", "5\n"], [solvers.steps_down], source="drawings"),
    Task(
        "checkerboard",
        "drawing",
        solvers.checkerboard,
        ["3\n", "4\n"],
        [solvers.board_inverted],
        source="drawings",
    ),
    Task("frame", "drawing", solvers.frame, ["3 4\n", "5 7\n"], source="drawings"),
    Task(
        "mean",
        "real",
        solvers.mean,
        ["1 2\n", "1 2 4\n", "0.1 0.2 0.35\n"],
        [solvers.mean_by_integers],
        source="numbers: reals",
    ),
    Task(
        "distance",
        "real",
        solvers.distance,
        ["0 0 1 1\n", "1.5 2.5 -3 4\n"],
        [solvers.city_distance],
        source="numbers: reals",
    ),
    Task(
        "growth",
        "real",
        solvers.growth,
        ["1000 3.5 10\n", "250 0.25 3\n"],
        [solvers.simple_interest],
        source="numbers: reals",
    ),
    Task(
        "chance",
        "real",
        solvers.small_probability,
        ["0.33 0.77\n", "0.125 0.125 0.91\n"],
        source="numbers: reals",
    ),
    Task("thirds", "reals", solvers.halves, ["1 2 4\n", "10 0.5\n"], source="numbers: reals"),
    Task(
        "roots",
        "reals",
        solvers.square_roots,
        ["2 3 5\n", "7 11\n"],
        [solvers.cube_roots],
        source="numbers: reals",
    ),
    Task(
        "palindrome",
        "answer",
        solvers.is_palindrome,
        ["abba\n", "abca\n", "abc\n"],
        [solvers.same_ends],
        source="words: yes and no",
    ),
    Task(
        "brackets",
        "answer",
        solvers.is_balanced,
        ["(())\n", "())(\n", "((\n"],
        [solvers.same_counts],
        source="words: yes and no",
    ),
    Task(
        "prime",
        "answer",
        solvers.is_prime,
        ["7\n", "9\n", "2\n"],
        [solvers.is_odd],
        source="words: yes and no",
    ),
    Task(
        "winner",
        "name",
        solvers.winner,
        ["anna 3 bea 4\n", "anna 3 bea 4 anna 2\n"],
        [solvers.best_single],
        source="words: names",
    ),
    Task(
        "longest",
        "name",
        solvers.longest_word,
        ["a bcd efg\n", "Rome Paris Oslo\n"],
        [solvers.last_longest],
        source="words: names",
    ),
    Task(
        "caesar",
        "name",
        solvers.caesar,
        ["abc\n", "hello\n", "xyz\n"],
        [solvers.caesar_without_wrap],
        source="words: names",
    ),
    Task(
        "backwards",
        "words",
        solvers.words_backwards,
        ["red green blue\n", "a b b c\n"],
        [solvers.letters_backwards],
        source="words: lists",
    ),
    Task(
        "by-length",
        "words",
        solvers.by_length,
        ["ccc a bb a\n", "four to one\n"],
        [solvers.by_alphabet],
        source="words: lists",
    ),
    Task(
        "binary",
        "bits",
        solvers.to_binary,
        ["5\n", "77\n", "200\n"],
        [solvers.to_binary_backwards],
        source="codes",
    ),
    Task("gray", "bits", solvers.gray_code, ["3\n", "100\n"], [solvers.to_binary], source="codes"),
    Task(
        "case-number",
        "labelled",
        solvers.numbered_sum,
        ["1 2\n", "10 20 3\n"],
        [solvers.numbered_product],
        source="labels",
    ),
    Task(
        "disc",
        "labelled real",
        solvers.circle_area,
        ["1\n", "2.5\n"],
        [solvers.circumference],
        source="labels",
    ),
    Task(
        "primes", "literal", solvers.primes_up_to, ["10\n", "20\n"], [solvers.odds_up_to], source="literals"
    ),
    Task(
        "pairs",
        "literal",
        solvers.pairs_of_sum,
        ["7\n", "10\n"],
        [solvers.pairs_of_any_order],
        source="literals",
    ),
    Task(
        "repeated-letters",
        "lines in any order",
        solvers.anagram_lines,
        ["noon see noon abc all\n", "eel eel egg\n"],
        [solvers.all_lines],
        {"order": "lines"},
        "order",
    ),
    Task("silence", "empty", solvers.quiet, ["1\n", "2\n"], source="nothing"),
)


def build() -> Iterator[Built]:
    """Build all problems."""
    for number, task in enumerate(TASKS):
        yield _built(task, number)


def _built(task: Task, number: int) -> Built:
    answers = [task.solver(text) for text in task.inputs]
    show = printed.SHOWN[task.kind]
    tests = [
        {"input": text, "expected": f"{show(answer)}\n" if show(answer) else ""}
        for text, answer in zip(task.inputs, answers, strict=True)
    ]
    problem: dict[str, Any] = {"mode": "stdio", "tests": tests, "limits": {"cpu_time_s": 2.0}}
    if task.comparison:
        problem["comparison"] = task.comparison
    built = Built(f"print/{task.name}", task.source, problem)
    solver = source_of(task.solver, "solve")
    for index, way in enumerate(_ways(task, answers, number)):
        built.add(
            way.name,
            program(solver, task.kind, way.code, READS[(number + index) % len(READS)]),
            *way.verdicts,
        )
    for faulty in task.faulty:
        if [faulty(text) for text in task.inputs] == answers:
            raise ValueError(f"{task.name}: {faulty.__name__} is right on all inputs")
        code = program(source_of(faulty, "solve"), task.kind, "print(shown)", READS[number % len(READS)])
        built.add(f"faulty_{faulty.__name__}", code, "WA")
    first = show(answers[0])
    if len({show(answer) for answer in answers}) > 1:
        built.add("first_answer_only", f"print({first!r})\n", "WA")
    return built


def _ways(task: Task, answers: Sequence[Any], number: int) -> Iterator[Presentation]:
    # Every problem is printed plainly and in a third of the other ways that all kinds share, in turn.
    common = [way for index, way in enumerate(printed.COMMON) if not index or (index + number) % 3 == 0]
    for way in (*common, *printed.PRESENTATIONS[task.kind]):
        if way.applies(answers) and not (task.kind == "empty" and way.name in NOT_FOR_EMPTY):
            yield way


def program(solver: str, kind: str, code: str, reading: str) -> str:
    """Return a program that reads, solves, and shows the answer in one way."""
    return f"{HEAD}{solver}\n\n{reading}\nanswer = solve(text)\nshown = {printed.SHOWN_CODE[kind]}\n{code}\n"
