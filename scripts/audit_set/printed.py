"""Ways to print answers, by what an answer is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scripts.audit_set.model import Presentation, right, wrong

EDGE = 4.0  # A wrong number is at least this many tolerances off.
TOLERANCE = 1e-6


def _some(test: Callable[[Any], bool]) -> Callable[[Sequence[Any]], bool]:
    return lambda answers: any(map(test, answers))


def _all(test: Callable[[Any], bool]) -> Callable[[Sequence[Any]], bool]:
    return lambda answers: all(map(test, answers))


def _off(value: float, other: float) -> bool:
    return abs(value - other) > EDGE * TOLERANCE * max(1.0, abs(value))


# What holds for any printed answer; ``shown`` is its text as a judge would print it.
COMMON = [
    right("plain", "print(shown)"),
    right("no_newline", "print(shown, end='')"),
    right("windows_lines", "sys.stdout.write(shown.replace('\\n', '\\r\\n') + '\\r\\n')"),
    right("trailing_blanks", "print('\\n'.join(line + '  ' for line in shown.split('\\n')))"),
    right("empty_lines_behind", "print(shown + '\\n\\n')"),
    right("bytes", "sys.stdout.buffer.write(shown.encode() + b'\\n')"),
    right("descriptor", "os.write(1, shown.encode() + b'\\n')"),
    right("noise_on_stderr", "print('debug', file=sys.stderr)\nprint(shown)"),
    right("exits_with_0", "print(shown)\nsys.exit(0)"),
    wrong("nothing", "shown = None"),
    wrong("printed_twice", "print(shown)\nprint(shown)"),
    wrong("debug_line", "print(shown)\nprint('DEBUG', 1)"),
    wrong("prompt", "print('Enter:', shown)"),
    wrong("on_stderr", "print(shown, file=sys.stderr)"),
    wrong("exits_with_1", "print(shown)\nsys.exit(1)", verdict="RE"),
    wrong("raises_behind", "print(shown)\nraise ValueError('late')", verdict="RE"),
    wrong("aborts", "print(shown, flush=True)\nos.abort()", verdict="RE"),
]

INTEGER = [
    right("as_real", "print(f'{answer}.0')"),
    right("surrounded", "print(f'\\n  {answer}  \\n')"),
    wrong("one_more", "print(answer + 1)"),
    wrong("last_digit", "print(answer // 10 * 10 + (answer + 3) % 10)"),
    wrong("leading_zeros", "print(f'00{answer}')"),
    wrong("plus_sign", "print(f'+{answer}')"),
    wrong("near_integer", "print(f'{answer}.0000001')"),
    wrong("underscores", "print(f'{answer:_}')", _some(lambda a: abs(a) >= 1000)),
    wrong("hexadecimal", "print(hex(answer))"),
    wrong("full_width", "print(''.join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in str(answer)))"),
    wrong("through_double", "print(int(float(answer)))", _some(lambda a: int(float(a)) != a)),
    wrong("negated", "print(-answer)", _some(lambda a: a != 0)),
    wrong("in_words", "print('the answer')"),
]

INTEGERS = [
    right("more_blanks", "print('   '.join(map(str, answer)))"),
    right("one_a_line", "print('\\n'.join(map(str, answer)))"),
    right("python_list", "print(answer)", _all(lambda a: len(a) > 1)),
    right("python_tuple", "print(tuple(answer))", _all(lambda a: len(a) > 1)),
    right("json", "print(json.dumps(answer))", _all(lambda a: len(a) > 1)),
    wrong("backwards", "print(*answer[::-1])", _some(lambda a: a != a[::-1])),
    wrong("sorted", "print(*sorted(answer))", _some(lambda a: a != sorted(a))),
    wrong("last_missing", "print(*answer[:-1])"),
    wrong("first_only", "print(*answer[:1])", _some(lambda a: len(a) > 1)),
    wrong("one_too_many", "print(*answer, answer[-1])"),
    wrong("duplicates_lost", "print(*dict.fromkeys(answer))", _some(lambda a: len(set(a)) < len(a))),
    wrong("glued", "print(''.join(map(str, answer)))", _some(lambda a: len(a) > 1)),
    wrong("last_off_by_one", "print(*answer[:-1], answer[-1] + 1)"),
    wrong("as_strings_list", "print([str(x) + '!' for x in answer])"),
    wrong("swapped", "print(*answer[1:2], *answer[:1], *answer[2:])", _some(lambda a: a[:1] != a[1:2])),
]

ROWS = [
    right("python_lists", "print(answer)"),
    right("wide", "print('\\n'.join('  '.join(f'{x:>4}' for x in row) for row in answer))"),
    wrong(
        "rows_swapped",
        "print('\\n'.join(' '.join(map(str, row)) for row in answer[::-1]))",
        _some(lambda a: a != a[::-1]),
    ),
    wrong(
        "columns_swapped",
        "print('\\n'.join(' '.join(map(str, row[::-1])) for row in answer))",
        _some(lambda a: any(r != r[::-1] for r in a)),
    ),
    wrong("row_missing", "print('\\n'.join(' '.join(map(str, row)) for row in answer[:-1]))"),
    wrong("row_twice", "print('\\n'.join(' '.join(map(str, row)) for row in answer + answer[-1:]))"),
    wrong(
        "transposed",
        "print('\\n'.join(' '.join(map(str, row)) for row in zip(*answer)))",
        _some(lambda a: [list(r) for r in zip(*a, strict=True)] != a),
    ),
    wrong("corner_off", "answer[-1][-1] += 1\nprint('\\n'.join(' '.join(map(str, row)) for row in answer))"),
]

DRAWING = [
    wrong("rows_glued", "print(''.join(answer))", _some(lambda a: len(a) > 1)),
    wrong(
        "mirrored",
        "print('\\n'.join(row[::-1] for row in answer))",
        _some(lambda a: any(r != r[::-1] for r in a)),
    ),
    wrong("upside_down", "print('\\n'.join(answer[::-1]))", _some(lambda a: a != a[::-1])),
    wrong("row_missing", "print('\\n'.join(answer[:-1]))"),
    wrong(
        "other_sign", "print('\\n'.join(answer).replace('#', '*'))", _some(lambda a: any("#" in r for r in a))
    ),
    wrong(
        "spread",
        "print('\\n'.join(' '.join(row) for row in answer))",
        _some(lambda a: any(len(r) > 1 for r in a)),
    ),
]

REAL = [
    right("nine_decimals", "print(f'{answer:.9f}')"),
    right("all_digits", "print(repr(answer))"),
    right("exponent", "print(f'{answer:.12e}')"),
    right("noise", "print(repr(answer + 1e-10))"),
    right("more_zeros", "print(f'{answer:.9f}000')"),
    wrong("one_decimal", "print(f'{answer:.1f}')", _some(lambda a: _off(a, round(a, 1)))),
    wrong("integer_part", "print(int(answer))", _some(lambda a: _off(a, int(a)))),
    wrong("a_thousandth_off", "print(answer * 1.001 + 0.001)", _some(lambda a: _off(a, a * 1.001 + 0.001))),
    wrong("not_a_number", "print('nan')"),
    wrong("infinite", "print('inf')"),
    wrong("decimal_comma", "print(f'{answer:.9f}'.replace('.', ','))"),
    wrong("negative", "print(-answer)", _some(lambda a: _off(a, -a))),
    wrong("percent", "print(f'{answer:.9f}%')"),
]

REALS = [
    right("six_decimals", "print(*(f'{x:.7f}' for x in answer))"),
    right("all_digits", "print(*answer)"),
    right("noise", "print(*(x + 1e-10 for x in answer))"),
    right("one_a_line", "print('\\n'.join(f'{x:.9f}' for x in answer))"),
    right("python_list", "print(answer)", _all(lambda a: len(a) > 1)),
    wrong("one_off", "print(*answer[:-1], answer[-1] + 0.01)"),
    wrong("one_missing", "print(*answer[:-1])"),
    wrong(
        "backwards",
        "print(*answer[::-1])",
        _some(lambda a: any(_off(x, y) for x, y in zip(a, a[::-1], strict=True))),
    ),
    wrong("one_nan", "print(*answer[:-1], 'nan')"),
    wrong(
        "two_decimals",
        "print(*(f'{x:.2f}' for x in answer))",
        _some(lambda a: any(_off(x, round(x, 2)) for x in a)),
    ),
]

ANSWER_WORD = [
    right("lower_case", "print(answer.lower())"),
    right("capitalised", "print(answer.capitalize())"),
    right("upper_case", "print(answer.upper())"),
    wrong("opposite", "print('NO' if answer == 'YES' else 'YES')"),
    wrong("always_yes", "print('YES')", _some(lambda a: a != "YES")),
    wrong("always_no", "print('NO')", _some(lambda a: a != "NO")),
    wrong("as_number", "print(int(answer == 'YES'))"),
    wrong("as_bool", "print(answer == 'YES')"),
    wrong("full_stop", "print(answer + '.')"),
    wrong("first_letter", "print(answer[0])"),
    wrong("both", "print('YES NO')"),
]

NAME = [
    right("quoted", "print(repr(answer))", _all(lambda a: a.isalpha())),
    wrong("other_case", "print(answer.swapcase())", _some(lambda a: a.swapcase() != a)),
    wrong("first_letter", "print(answer[:1])", _some(lambda a: len(a) > 1)),
    wrong("other_name", "print('Nobody')"),
    wrong("backwards", "print(answer[::-1])", _some(lambda a: a.casefold() != a[::-1].casefold())),
    wrong(
        "look_alike",
        "print(answer.translate({ord('a'): 'а', ord('e'): 'е'}))",
        _some(lambda a: "a" in a or "e" in a),
    ),
    wrong("none", "print(None)"),
]

WORDS = [
    right("one_a_line", "print('\\n'.join(answer))"),
    right("more_blanks", "print('  '.join(answer))"),
    wrong("backwards", "print(*answer[::-1])", _some(lambda a: a != a[::-1])),
    wrong("sorted", "print(*sorted(answer))", _some(lambda a: a != sorted(a))),
    wrong("last_missing", "print(*answer[:-1])"),
    wrong("upper_case", "print(*map(str.upper, answer))", _some(lambda a: any(w.upper() != w for w in a))),
    wrong("glued", "print(''.join(answer))", _some(lambda a: len(a) > 1)),
    wrong("duplicates_lost", "print(*dict.fromkeys(answer))", _some(lambda a: len(set(a)) < len(a))),
]

BITS = [
    wrong("leading_zeros_lost", "print(int(answer))", _some(lambda a: a.startswith("0") and len(a) > 1)),
    wrong("one_more_zero", "print('0' + answer)"),
    wrong("as_number", "print(int(answer, 2))", _some(lambda a: str(int(a, 2)) != a)),
    wrong("with_prefix", "print('0b' + answer)"),
    wrong("flipped", "print(answer.translate({48: 49, 49: 48}))"),
    wrong("as_real", "print(answer + '.0')", _some(lambda a: a.startswith("0") and len(a) > 1)),
]

LABELLED = [
    wrong("label_missing", "print(shown.split(': ')[-1])"),
    wrong("other_label", "print(shown.replace('Case', 'Test'))"),
    wrong("other_number", "print(shown.replace('#1', '#0'))"),
    wrong("one_more", "print(shown[:-1] + str((int(shown[-1]) + 1) % 10))"),
    wrong("value_missing", "print(shown.split(': ')[0] + ':')"),
]

LABELLED_REAL = [
    right("fewer_digits", "print(f'Area: {answer:.7f}')"),
    right("more_digits", "print(f'Area: {answer:.12f}')"),
    wrong("two_digits", "print(f'Area: {answer:.2f}')", _some(lambda a: _off(a, round(a, 2)))),
    wrong("label_missing", "print(f'{answer:.7f}')"),
    wrong("other_label", "print(f'Volume: {answer:.7f}')"),
    wrong("not_a_number", "print('Area: nan')"),
]

LITERAL = [
    right("compact", "print(json.dumps(answer, separators=(',', ':')))"),
    right("json", "print(json.dumps(answer))"),
    right("python", "print(answer)"),
    right("wide", "print(json.dumps(answer, indent=2))"),
    wrong("last_missing", "print(answer[:-1])"),
    wrong("backwards", "print(answer[::-1])", _some(lambda a: a != a[::-1])),
    wrong("nested", "print([answer])"),
    wrong("as_text", "print([str(x) + '?' for x in answer])"),
]

FREE_ORDER = [
    right("backwards", "print('\\n'.join(answer[::-1]))"),
    right("sorted", "print('\\n'.join(sorted(answer)))"),
    wrong(
        "duplicates_lost", "print('\\n'.join(dict.fromkeys(answer)))", _some(lambda a: len(set(a)) < len(a))
    ),
    wrong("one_missing", "print('\\n'.join(answer[1:]))"),
    wrong("one_twice", "print('\\n'.join([*answer, answer[0]]))"),
    wrong("other_multiset", "print('\\n'.join([answer[0], *answer[:-1]]))", _some(lambda a: a[0] != a[-1])),
    wrong("one_changed", "print('\\n'.join([*answer[:-1], answer[-1] + 'x']))"),
]

EMPTY = [
    right("blank_line", "print()"),
    right("blanks", "print('  ')"),
    wrong("zero", "print(0)"),
    wrong("none_printed", "print(None)"),
    wrong("empty_list", "print([])"),
]

PRESENTATIONS: dict[str, list[Presentation]] = {
    "integer": INTEGER,
    "integers": INTEGERS,
    "rows": ROWS,
    "drawing": DRAWING,
    "real": REAL,
    "reals": REALS,
    "answer": ANSWER_WORD,
    "name": NAME,
    "words": WORDS,
    "bits": BITS,
    "labelled": LABELLED,
    "labelled real": LABELLED_REAL,
    "literal": LITERAL,
    "lines in any order": FREE_ORDER,
    "empty": EMPTY,
}

# How an answer of each kind is printed: what ``shown`` is in a program, and what the judge expects.
SHOWN: dict[str, Callable[[Any], str]] = {
    "integer": str,
    "integers": lambda a: " ".join(map(str, a)),
    "rows": lambda a: "\n".join(" ".join(map(str, row)) for row in a),
    "drawing": "\n".join,
    "real": lambda a: f"{a:.9f}",
    "reals": lambda a: " ".join(f"{x:.9f}" for x in a),
    "answer": str,
    "name": str,
    "words": " ".join,
    "bits": str,
    "labelled": str,
    "labelled real": lambda a: f"Area: {a:.9f}",
    "literal": str,
    "lines in any order": "\n".join,
    "empty": lambda _: "",
}
SHOWN_CODE: dict[str, str] = {
    "integer": "str(answer)",
    "integers": "' '.join(map(str, answer))",
    "rows": "'\\n'.join(' '.join(map(str, row)) for row in answer)",
    "drawing": "'\\n'.join(answer)",
    "real": "f'{answer:.9f}'",
    "reals": "' '.join(f'{x:.9f}' for x in answer)",
    "answer": "answer",
    "name": "answer",
    "words": "' '.join(answer)",
    "bits": "answer",
    "labelled": "answer",
    "labelled real": "f'Area: {answer:.9f}'",
    "literal": "str(answer)",
    "lines in any order": "'\\n'.join(answer)",
    "empty": "''",
}
