"""``extract`` finds the program that the model meant, and nothing where it meant none."""

import time
import warnings
from textwrap import dedent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.extraction import extract

TICKS = "```"
PROGRAM = "n = int(input())\nprint(n * 2)\n"
SQ = "def sq(x):\n    return x * x\n"


def fenced(code: str, tag: str = "python", fence: str = TICKS) -> str:
    return f"{fence}{tag}\n{code}{fence}\n"


TAKEN = [
    pytest.param(fenced(PROGRAM), PROGRAM, id="one block"),
    pytest.param(fenced("draft()\n") + "Better:\n" + fenced(PROGRAM), PROGRAM, id="the last of two"),
    pytest.param(fenced(PROGRAM) + "Better:\n" + fenced("n = = 1\n"), PROGRAM, id="the last that parses"),
    pytest.param(fenced(PROGRAM, ""), PROGRAM, id="untagged"),
    pytest.param(fenced(PROGRAM, "py"), PROGRAM, id="py"),
    pytest.param(fenced(PROGRAM, "{.python .numberLines}"), PROGRAM, id="attributes in braces"),
    pytest.param(fenced(PROGRAM, " Python3 title=a.py"), PROGRAM, id="attributes behind the tag"),
    pytest.param(fenced(PROGRAM, "python:main.py"), PROGRAM, id="file name behind the tag"),
    pytest.param(fenced(PROGRAM, "python", "~~~~"), PROGRAM, id="tildes"),
    pytest.param(fenced(PROGRAM, "python", "`````"), PROGRAM, id="long fence"),
    pytest.param(fenced(PROGRAM).replace("\n", "\r\n"), PROGRAM, id="crlf"),
    pytest.param(fenced(PROGRAM)[:-1] + "<|im_end|>\n<|endoftext|>", PROGRAM, id="end tokens at a fence"),
    pytest.param(PROGRAM + "</s>", PROGRAM, id="end token at code"),
    pytest.param("\ufeff" + PROGRAM, PROGRAM, id="byte order mark"),
    pytest.param("\n\n" + PROGRAM, PROGRAM, id="blank lines above code"),
    pytest.param("raise SystemExit(3)\n", "raise SystemExit(3)\n", id="a program that only raises"),
    pytest.param("Solution: ```python\n" + PROGRAM + TICKS, PROGRAM, id="opener behind text"),
    pytest.param("```python\nprint(1)```\nIt prints 1.", "print(1)\n", id="closer behind code"),
    pytest.param("```python\nprint(1)\n", "print(1)\n", id="completion cut before the closer"),
    pytest.param("~~~python\n" + PROGRAM, PROGRAM, id="cut, and the opener is an expression in Python"),
    pytest.param("- ```python\n  print(1)\n  ```\n", "print(1)\n", id="opener behind a list marker"),
    pytest.param("  ```python\n  print(1)\n```\n" + fenced(PROGRAM), PROGRAM, id="closer left of its opener"),
    pytest.param("```python\nprint(1)\n   ```\nSo.\n", "print(1)\n", id="closer right of its opener"),
    pytest.param("```python\n    print(1)\n```\n", "print(1)\n", id="indented code in a flush fence"),
    pytest.param("```python\nprint(0)\nAnd:\n" + fenced(PROGRAM), PROGRAM, id="a block never closed"),
    pytest.param(fenced(fenced(PROGRAM), "markdown", "````"), PROGRAM, id="inside a markdown block"),
    pytest.param(fenced(fenced(PROGRAM), ""), PROGRAM, id="fenced twice"),
    pytest.param(fenced(PROGRAM) + "Output:\n" + fenced("5\n", ""), PROGRAM, id="sample that is a literal"),
    pytest.param(fenced(PROGRAM) + "Output:\n" + fenced("x = 5\n", ""), PROGRAM, id="tagged before untagged"),
    pytest.param(fenced(PROGRAM) + fenced("[1, 2]\n"), PROGRAM, id="tagged literal"),
    pytest.param(fenced(PROGRAM) + fenced("x = 1\n", "bash"), PROGRAM, id="another language that parses"),
    pytest.param(fenced(PROGRAM) + fenced(">>> sq(2)\n4\n"), PROGRAM, id="prompt session below"),
    pytest.param(fenced("print(1)\n", "text"), "print(1)\n", id="another tag when there is no better block"),
    pytest.param("python\n" + PROGRAM + TICKS, PROGRAM, id="the prompt opened the fence before its tag"),
    pytest.param(PROGRAM + "```\nIt doubles n.\n", PROGRAM, id="the prompt opened the fence"),
    pytest.param(
        PROGRAM + "```\nRun:\n```bash\npython a.py\n```\n", PROGRAM, id="opened by the prompt, then more"
    ),
    pytest.param("print(1)```", "print(1)\n", id="opened by the prompt, closed behind code"),
    pytest.param("Hm </think>" + fenced(PROGRAM), PROGRAM, id="closing tag without opening one"),
    pytest.param("<THINKING>\na\n</THINKING>\n" + PROGRAM, PROGRAM, id="tag in capitals, then bare code"),
    pytest.param("<think>\n```python\nx = 1\n</think>\n" + fenced(PROGRAM), PROGRAM, id="draft never closed"),
    pytest.param("[THINK]a[/THINK]" + fenced(PROGRAM), PROGRAM, id="tags in brackets"),
]


@pytest.mark.parametrize(("completion", "program"), TAKEN)
def test_the_program_is_taken(completion: str, program: str) -> None:
    assert extract(completion).code == program


CLOSING_IN_CODE = "print(input().replace('</think>', ''))\n"


@pytest.mark.parametrize(
    "completion", [CLOSING_IN_CODE, fenced(CLOSING_IN_CODE), "<think>a</think>" + fenced(CLOSING_IN_CODE)]
)
def test_a_closing_tag_in_a_string_of_the_program_ends_no_reasoning(completion: str) -> None:
    assert extract(completion).code == CLOSING_IN_CODE


INNER_FENCES = [
    'doc = """\n```\nhi\n```\n"""\nprint(doc)\n',
    'doc = """\n```python\na = 1\n```\ntext\n```python\nb = 2\n```\n"""\ndef f(): ...\n',
    "doc = '''\n```text\nhi\n```\n'''\nprint(doc)\n",
    'doc = """it\'s\n~~~\n"""\nprint(doc)\n',
    "# ```\nprint(1)\n",
]


@pytest.mark.parametrize("program", INNER_FENCES)
def test_fences_inside_strings_do_not_cut_the_program(program: str) -> None:
    assert extract(fenced(program)).code == program
    assert extract("So:\n\n" + fenced(program) + "\nThis works.\n").code == program
    assert extract(program).code == program


NO_CODE = [
    pytest.param("", "empty", id="nothing"),
    pytest.param("  \n<|im_end|>", "empty", id="an end token only"),
    pytest.param("I cannot solve this problem.", "no_code", id="refusal"),
    pytest.param("hello", "no_code", id="a word that parses"),
    pytest.param("Answer: yes", "no_code", id="an annotation that parses"),
    pytest.param("not a, b or c", "no_code", id="prose that parses"),
    pytest.param("raise awareness", "no_code", id="prose that parses as a statement"),
    pytest.param("The answer is\n```\n5\n```\n", "no_code", id="an untagged literal"),
    pytest.param("```cpp\nint main() { return 0; }\n```\n", "no_code", id="another language"),
    pytest.param("```python\n```\n", "no_code", id="an empty block"),
    pytest.param("<think>\n" + fenced(PROGRAM), "truncated_reasoning", id="reasoning never closed"),
    pytest.param(fenced(PROGRAM) + "<think>\nWait", "truncated_reasoning", id="reasoning opened again"),
    pytest.param("<think>a</think><think>" + fenced(PROGRAM), "truncated_reasoning", id="opened at once"),
]


@pytest.mark.parametrize(("completion", "reason"), NO_CODE)
def test_no_program_is_made_up(completion: str, reason: str) -> None:
    found = extract(completion)
    assert (found.code, found.reason) == (None, reason)


@pytest.mark.parametrize(
    ("completion", "code"),
    [
        (fenced("def f(:\n"), "def f(:\n"),
        (fenced("print(1\n", ""), "print(1\n"),
        ("n = int(input()\nprint(n)\n", "n = int(input()\nprint(n)\n"),
        ("def f(:\n    pass\n```\n", "def f(:\n    pass"),
        (fenced("x = (\n") + fenced("print(1)\n", "text"), "x = (\n"),
    ],
)
def test_broken_python_is_still_the_program(completion: str, code: str) -> None:
    """So that the verdict says "does not compile" and not "no code"."""
    found = extract(completion)
    assert (found.code, found.reason) == (code, "does_not_parse")


@pytest.mark.parametrize(
    ("program", "entry_point"),
    [
        (SQ, "sq"),
        ("class Solution:\n    def sq(self, x):\n        return x * x\n", "sq"),
        ("class Solution:\n    def sq(self, x):\n        return x * x\n", "Solution.sq"),
        ("class Solution(Base):\n    pass\n", "Solution.sq"),
        ("sq = lambda x: x * x\n", "sq"),
        ("async def sq(x):\n    return x\n", "sq"),
        ("try:\n    from fast import sq\nexcept ImportError:\n    def sq(x): return x * x\n", "sq"),
        ("class Stack:\n    pass\n", "Stack"),
    ],
)
@pytest.mark.parametrize("mode", ["call", "assert"])
def test_the_block_that_defines_the_entry_point_is_taken(program: str, entry_point: str, mode: str) -> None:
    usage = fenced("print(sq(3))\n")
    completion = fenced("import math\n") + fenced(program) + "Use:\n" + usage
    assert extract(completion, entry_point=entry_point, mode=mode).code == program
    untagged = fenced(program, "") + usage
    assert extract(untagged, entry_point=entry_point, mode=mode).code == program


@pytest.mark.parametrize(
    "decoy",
    [
        "def other():\n    def sq(x): ...\n",
        "class A:\n    def other(self): ...\n",
        "print(sq(2))\n",
        "x = 'sq'\n",
    ],
)
def test_a_block_that_does_not_define_the_entry_point_yields_to_one_that_does(decoy: str) -> None:
    assert extract(fenced(SQ) + fenced(decoy), entry_point="sq", mode="call").code == SQ
    assert extract(fenced(decoy), entry_point="sq", mode="call").code == decoy


def test_the_entry_point_is_not_asked_of_stdio_programs() -> None:
    assert extract(fenced(SQ) + fenced(PROGRAM), entry_point="sq").code == PROGRAM


def test_other_languages_are_found_by_their_tag() -> None:
    program = "int main() { return 0; }\n"
    assert extract(fenced(program, "cpp") + fenced(PROGRAM), language="cpp").code == program
    assert extract("No.", language="cpp").code is None


def test_an_invalid_escape_is_no_syntax_error_under_warnings_as_errors() -> None:
    program = 'import re\nprint(re.sub("\\d", "", input()))\n'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert extract(fenced("draft = 1\n") + fenced(program)).code == program


SIZE = 400_000
HOSTILE = {
    "brackets": "(" * SIZE,
    "unary operators": "print(1)\n" + "-" * SIZE + "1",
    "long sum": "x = " + "1+" * (SIZE // 2) + "1",
    "attributes": "x = a" + ".b" * (SIZE // 2),
    "backticks": "`" * SIZE,
    "backticks behind text": "a" + "`" * SIZE + "python",
    "openers": "```python\n" * (SIZE // 10),
    "bare fences": "```\n" * (SIZE // 4),
    "openers with deep closers": "```python\n  ```\n" * (SIZE // 16),
    "closers of other fences": ("```python\n  ```\n" + "~~~\n" * 9) * (SIZE // 60),
    "openers with string quotes": '```python\n"""\n```\n' * (SIZE // 18),
    "growing fences": "\n".join("`" * (3 + n) + "python\n x" for n in range(800)),
    "broken blocks": fenced("x = = 1\n") * (SIZE // 20),
    "opening tags": "<think>\n" * (SIZE // 8),
    "closing tags": "</think>\n" * (SIZE // 9),
    "closing tags in programs": fenced("x = '</think>'\n") * (SIZE // 30),
    "end tokens": "<|im_end|> " * (SIZE // 11),
    "unclosed end token": "<|" * (SIZE // 2),
    "quotes": "```python\n" + "'\"" * (SIZE // 2) + "\n```",
    "escapes": '```python\n"' + '\\"' * (SIZE // 2) + "\n```",
    "blanks": " " * SIZE + "x",
    "literal lines": fenced("1\n" * (SIZE // 2)),
    "nul and surrogate": fenced("print('\x00\ud800')\n"),
    "formatted strings": fenced('f"{a!r:{b}}" ' * (SIZE // 14)),
}


@pytest.mark.parametrize("completion", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_linear_time_and_raises_nothing(completion: str) -> None:
    started = time.process_time()
    extract(completion * 2, entry_point="f", mode="call")
    assert time.process_time() - started < 6


LINES = st.sampled_from(
    [
        "",
        "x",
        "print(1)",
        "def f():",
        "    return 1",
        '"""',
        "'''",
        "# a",
        "<think>",
        "</think>",
        "text",
        "it's",
    ]
)
FENCES = st.sampled_from(
    ["```", "```python", "~~~", "~~~~ py", "  ```", "   ```text", "x```", "````", "- ```python"]
)


@given(st.lists(LINES | FENCES | st.text(max_size=8), max_size=25).map("\n".join))
@example("\ud800```\x00")
def test_any_text_has_an_answer(completion: str) -> None:
    for mode in ("stdio", "call"):
        found = extract(completion, entry_point="f", mode=mode)
        assert (found.code is None) == (found.reason in {"empty", "no_code", "truncated_reasoning"})


STRING_LINES = st.sampled_from(
    [
        "```",
        "```python",
        "x = 1",
        "  ```",
        "~~~",
        "# </think>",
        "<b>",
        "it's",
        "",
        "def g(): pass",
        "````text",
    ]
)
STATEMENTS = st.one_of(
    st.sampled_from(
        ["x = 1", "print('a')", "for i in range(3):\n    print(i)", "def f(a):\n\n    return a", "# c"]
    ),
    st.lists(STRING_LINES, max_size=6).map(lambda lines: 's = """\n' + "\n".join(lines) + '\n"""'),
)
PROGRAMS = st.lists(STATEMENTS, min_size=1, max_size=6).map(
    lambda parts: "\n".join(["import sys", *parts, ""])
)
PROSE = st.sampled_from(["", "Here is my solution, it's O(n):\n\n", "1. First we read.\n", "# Solution\n\n"])


@given(
    program=PROGRAMS,
    prose=st.tuples(PROSE, PROSE),
    fence=st.sampled_from(["```", "~~~", "`````"]),
    margin=st.sampled_from(["", "   "]),
    tag=st.sampled_from(["python", "Python3 x=1", ""]),
)
def test_a_fenced_program_comes_back_as_it_was(
    program: str, prose: tuple[str, str], fence: str, margin: str, tag: str
) -> None:
    block = "".join(f"{margin}{line}\n" for line in f"{fence}{tag}\n{program}{fence}".split("\n"))
    assert extract(prose[0] + block + prose[1]).code == program


def test_an_indented_block_loses_its_margin() -> None:
    completion = dedent(
        """\
        1. Code:

           ~~~~python
           if True:
               print(1)
           ~~~~
        """
    )
    assert extract(completion).code == "if True:\n    print(1)\n"
