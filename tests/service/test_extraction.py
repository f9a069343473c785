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
    pytest.param(fenced("n = = 1\n") + "<think>\nWait", "truncated_reasoning", id="opened after broken code"),
    pytest.param("So.\n<think>\n" + fenced(PROGRAM) * 2, "truncated_reasoning", id="opened after prose"),
    pytest.param("<answer>42</answer>", "no_code", id="an answer that is no program"),
    pytest.param("Use <code>print(n)</code> here.", "no_code", id="code inside a sentence"),
    pytest.param("It grows as\n\nO(n)\n\nbecause of the loop.", "no_code", id="a call between prose"),
    pytest.param("Take\n\nn = 5\n\nand it is odd.", "no_code", id="an assignment between prose"),
    pytest.param("<think>a</think><think>" + fenced(PROGRAM), "truncated_reasoning", id="opened at once"),
]


@pytest.mark.parametrize(("completion", "reason"), NO_CODE)
def test_no_program_is_made_up(completion: str, reason: str) -> None:
    found = extract(completion)
    assert (found.code, found.reason) == (None, reason)


UNFENCED = [
    pytest.param("<|im_start|>assistant\n{}<|im_end|>", "whole_text", id="turn of a chat template"),
    pytest.param(
        "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>", "whole_text", id="turn with header"
    ),
    pytest.param("<|im_start|>assistant\nSure:\n\n{}<|im_end|>", "unfenced", id="turn with prose"),
    pytest.param("[PYTHON]\n{}[/PYTHON]", "wrapped", id="PYTHON in brackets"),
    pytest.param("[PYTHON]\n{}[/PYTHON]\n[TESTS]\n# 1\n[/TESTS]", "wrapped", id="more in brackets"),
    pytest.param("<answer>{}</answer>", "wrapped", id="answer"),
    pytest.param("So: <answer>\npython\n{}</answer>\nDone.", "wrapped", id="answer inside prose"),
    pytest.param("<code>\n{}</code>", "wrapped", id="code"),
    pytest.param('<pre><code class="language-python">\n{}</code></pre>', "wrapped", id="code inside pre"),
    pytest.param("<answer>\ndraft()\n</answer>\n<answer>\n{}</answer>", "wrapped", id="the last of two"),
    pytest.param("<answer>\n{}", "wrapped", id="cut before the closing tag"),
    pytest.param("Here is the code:\n\n{}", "unfenced", id="prose above"),
    pytest.param("{}\nIt's O(n log n) and uses <code>n</code>.", "unfenced", id="prose below"),
    pytest.param("# Idea\n\n1. We read n.\n- Then\n\n{}\n**Why**\nBecause.", "unfenced", id="Markdown"),
    pytest.param("\u4ee5\u4e0b\u662f\u4ee3\u7801\uff1a\n\n{}", "unfenced", id="Chinese prose"),
    pytest.param("First\n\nprint(1)\n\nis wrong. Better:\n\n{}", "unfenced", id="the longest run"),
    pytest.param("{}\nRun it:\n```bash\npython a.py\n```\n", "unfenced", id="another language below"),
]
LONG = '"""\nRead n as given.\n"""\nimport sys\n\n\ndef main():\n    print(sys.stdin.read())\n\n\nmain()\n'


@pytest.mark.parametrize(("template", "reason"), UNFENCED)
@pytest.mark.parametrize("program", [PROGRAM, LONG])
def test_a_program_without_a_fence_is_found(template: str, reason: str, program: str) -> None:
    found = extract(template.format(program))
    assert (found.code, found.reason) == (program, reason)


def test_a_run_of_lines_must_define_the_entry_point_in_call_mode() -> None:
    usage = "\nTry it:\n\nfor n in range(9):\n    a = sq(n)\n    print(a)\n"
    completion = "Here is the code:\n\n" + SQ + usage
    assert extract(completion, entry_point="sq", mode="call").code == SQ
    assert extract(completion, entry_point="cube", mode="call").code is None
    assert extract(completion + fenced("print(sq(3))\n"), entry_point="sq", mode="call").code == SQ


@pytest.mark.parametrize(
    "completion",
    [
        "Here is the code:\n\nprint(1)\nfor i in range(3:\n    print(i)\n",
        "Here is the code:\n\nn = (\nprint(1)\n",
        "Here is the code:\n\nprint(1)\nx = foo(",
        "Here is the code:\n\nprint(1)\nif x:\n    print(",
        "Here is the code:\n\nprint(1)\nprint 2\n",
    ],
)
def test_the_part_of_a_broken_program_that_parses_is_no_program(completion: str) -> None:
    assert extract(completion).code is None


def test_a_fenced_program_goes_before_one_in_tags_or_prose() -> None:
    completion = "<answer>\nprint(1)\n</answer>\n" + fenced(PROGRAM) + "So:\n\nprint(2)\nprint(3)\n"
    assert extract(completion).code == PROGRAM


@pytest.mark.parametrize("before", [fenced(PROGRAM), PROGRAM, "Hm </think>" + fenced(PROGRAM)])
def test_reasoning_that_opens_after_a_complete_program_does_not_void_it(before: str) -> None:
    assert extract(before + "<think>\nWait").code == PROGRAM
    assert extract(before + "<think>\n" + fenced("draft()\n")).code == PROGRAM


DAMAGED = [
    pytest.param("if 1:\n\u00a0\u00a0print(2)\n", "if 1:\n  print(2)\n", id="no-break indentation"),
    pytest.param("x\u00a0= 1\nprint(x)\n", "x = 1\nprint(x)\n", id="no-break space between tokens"),
    pytest.param("x =\u200b 1\n\ufeffprint(x)\n", "x = 1\nprint(x)\n", id="zero-width spaces"),
    pytest.param(
        "print(1,\u00a0'\u00a0\u200b')  # it's\u00a0so\n",
        "print(1, '\u00a0\u200b')  # it's\u00a0so\n",
        id="strings are kept",
    ),
    pytest.param(
        "if 1 &lt; 2 &amp;&#32;3:\n    print(&quot;a&quot;)\n",
        'if 1 < 2 & 3:\n    print("a")\n',
        id="entities",
    ),
    pytest.param("if 1:\n&nbsp;print(1 &gt; 0)\n", "if 1:\n print(1 > 0)\n", id="spaces as entities"),
    pytest.param(
        ">>> def f():\n...     return 1\n...\n>>> print(f())\n",
        "def f():\n    return 1\n\nprint(f())\n",
        id="prompts",
    ),
    pytest.param(
        "&gt;&gt;&gt; import os\n&gt;&gt;&gt; print(1)\n", "import os\nprint(1)\n", id="prompts in entities"
    ),
]


@pytest.mark.parametrize(("damaged", "program"), DAMAGED)
def test_what_transport_did_to_a_program_is_undone(damaged: str, program: str) -> None:
    assert extract(fenced(damaged)).code == program
    assert extract(damaged).code == program
    assert extract(f"<answer>{damaged}</answer>").code == program
    assert extract(f"Here it is:\n\n{damaged}\nDone.").code == program


@pytest.mark.parametrize(
    "program",
    [
        "print('\u00a0\u200b'.split())\n",
        "print('&lt;'.replace('&amp;', ''))\n",
        "lt = x = 2\nx &lt;print(x)\n",
        "print('''\n>>> 1\n... 2\n''')\n",
    ],
)
def test_a_program_that_parses_is_left_as_it_is(program: str) -> None:
    assert extract(fenced(program)).code == program
    assert extract(program).code == program


@pytest.mark.parametrize(
    "broken", ["print(\u00a01\n", "print(1 &lt; )\n", ">>> print(1)\n1\n", ">>> print(\n", "... x = 1\n"]
)
def test_a_program_that_no_repair_helps_is_handed_on_as_it_is(broken: str) -> None:
    found = extract(fenced(broken))
    assert (found.code, found.reason) == (broken, "does_not_parse")


def test_prompts_are_a_usage_where_there_is_a_program() -> None:
    assert extract(fenced(SQ) + fenced(">>> sq(2)\n>>> sq(3)\n")).code == SQ


@pytest.mark.parametrize(("mode", "entry_point"), [("assert", None), ("call", "absent")])
def test_a_block_that_defines_goes_before_usage_where_tests_call(mode: str, entry_point: str | None) -> None:
    usage = fenced("print(sq(3))\n") + fenced("def test_sq():\n    assert sq(2) == 4\n")
    other = "class Sq:\n    pass\n"
    assert extract(fenced(SQ) + usage, mode=mode, entry_point=entry_point).code == SQ
    assert extract(fenced(SQ, "") + usage, mode=mode, entry_point=entry_point).code == SQ
    assert extract(fenced(SQ) + fenced(other) + usage, mode=mode, entry_point=entry_point).code == other


def test_of_blocks_that_define_nothing_the_last_is_taken() -> None:
    assert extract(fenced("a = 1\n") + fenced("print(2)\n"), mode="assert").code == "print(2)\n"
    assert extract(fenced(SQ) + fenced("print(2)\n")).code == "print(2)\n"


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
    "lines of one token": "1\n" * (SIZE // 2),
    "lines of prose": "a b\n" * (SIZE // 4),
    "prose and code by turns": "a b\nx = 1\n" * (SIZE // 10),
    "brackets by line": ("[" * 400 + "\n") * (SIZE // 401),
    "names by line": ("a," * 200 + "\n") * (SIZE // 401),
    "wrapping tags": "<code>" * (SIZE // 6),
    "wrapping tags closed": "<code>x=</code>\n<answer>" * (SIZE // 24),
    "odd spaces": "```python\n" + "\u00a0x" * (SIZE // 2),
    "odd spaces and quotes": "\u00a0'''\\" + '"""\\' * (SIZE // 4),
    "entities": "&lt;" * (SIZE // 4),
    "prompts": ">>> x = =\n" * (SIZE // 10),
    "headers": "<|im_start|>" * (SIZE // 12),
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
        "<answer>",
        "</answer>",
        "[PYTHON]",
        ">>> x = 1",
        "\u00a0y = 2",
        "a &lt; b",
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
