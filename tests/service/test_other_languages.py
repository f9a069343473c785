"""Programs of other languages through the core, the HTTP contract's validation, and completions."""

from __future__ import annotations

import json
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import CodeMarks, Language
from sandbox.toolchains.languages import FOLDER, read
from service.errors import InvalidFieldsError
from service.extraction import extract
from service.intake import Rules, take_in
from service.languages import every_name, listed
from service.settings import Settings
from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.wire import Judgement

CPP = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
DOUBLE = {
    "mode": "stdio",
    "tests": [{"input": "2\n", "expected": "4\n"}, {"input": "-3\n", "expected": "-6\n"}],
    "limits": {"cpu_time_s": 1, "memory_bytes": 128 << 20},
}
HEAD = '#include <cstdio>\n#include <vector>\nint main() { int a; if (std::scanf("%d", &a) != 1) return 1; '
MARKS = {path.stem: read(path).marks for path in FOLDER.glob("*.toml")}


@CPP
@pytest.mark.parametrize(
    ("body", "verdict", "words"),
    [
        ('std::printf("%d\\n", 2 * a); }', Verdict.AC, "all 2 tests passed"),
        ('std::printf("%d\\n", a + 2); }', Verdict.WA, "test 1"),
        ("return 3; }", Verdict.RE, "exit code 3"),
        ("return *(volatile int *)0; }", Verdict.RE, "SIGSEGV"),
        ("for (volatile int i = 0;; i++); }", Verdict.TLE, "CPU time"),
        ("std::vector<char> v(1ul << 50); return v[7]; }", Verdict.MLE, "memory"),
        ("std::vector<int> v; for (;;) v.push_back(a); }", Verdict.MLE, "memory"),
        ('for (;;) std::puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"); }', Verdict.OLE, "output"),
        ("return b; }", Verdict.CE, "'b' was not declared"),
    ],
)
def test_a_cpp_program_gets_the_verdict_that_it_deserves(
    judged: Callable[..., Judgement], body: str, verdict: Verdict, words: str
) -> None:
    judgement = judged(HEAD + body, DOUBLE, language="cpp")
    assert judgement.verdict is verdict, judgement.message
    assert words in judgement.message
    assert judgement.reward == (1.0 if verdict is Verdict.AC else 0.0)
    assert judgement.isolation == "strict"


@NODE
def test_a_script_is_judged_with_the_problems_checker(judged: Callable[..., Judgement]) -> None:
    checker = {"code": "def check(input, expected, actual): return float(actual) == float(expected)"}
    problem = {**DOUBLE, "comparison": {"checker": checker}}
    source = "console.log((2 * require('fs').readFileSync(0, 'utf8')).toFixed(3))"
    judgement = judged(source, problem, language="javascript")
    assert judgement.verdict is Verdict.AC, judgement.message
    assert judged("console.log(1", problem, language="js").verdict is Verdict.CE


def test_a_worker_without_the_compiler_fails_by_its_own_fault(judged: Callable[..., Judgement]) -> None:
    """Other machines of the same service may have it: the sample is left out, not punished."""
    judgement = judged("x", DOUBLE, language="cobol")
    assert (judgement.verdict, judgement.reward) == (Verdict.IE, None)
    assert "no such language here: 'cobol'" in judgement.message


KNOWN = [
    Language("python", "3.12.1", "CPython 3.12.1"),
    Language("cpp20", "13.2.0", "C++20, g++ -O2 13.2.0", ("cpp", "c++")),
]
SETTINGS = Settings(workers=1)
RULES = Rules(
    maxima=SETTINGS.maxima,
    defaults=SETTINGS.defaults,
    isolation="strict",
    languages=every_name(KNOWN),
    profiles=["microcoder"],
)
CALL = {"mode": "call", "entry_point": "f", "tests": [{"args": [1], "expected": 1}]}


def _body(language: str, problem: dict[str, Any]) -> bytes:
    return json.dumps({"submissions": [{"code": "x", "language": language, "problem": problem}]}).encode()


@pytest.mark.parametrize(
    ("language", "problem", "words"),
    [
        ("cobol", DOUBLE, "is none of those here: python, cpp20, cpp, c++"),
        ("CPP", DOUBLE, "is none of those here"),
        ("java", DOUBLE, "is none of those here"),
        ("cpp", CALL, "can be tested in mode stdio only, and this problem's is call"),
        ("c++", {"mode": "assert", "tests": [{"code": "assert f"}]}, "this problem's is assert"),
        ("cpp", {**DOUBLE, "prelude": "import os"}, "prelude is Python"),
    ],
)
def test_what_a_language_cannot_do_is_refused_by_the_name_of_the_field(
    language: str, problem: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidFieldsError) as found:
        take_in(_body(language, problem), "batch", RULES)
    (error,) = found.value.errors
    assert error.field == "submissions.0.language"
    assert words in error.message


@pytest.mark.parametrize("language", ["python", "cpp20", "cpp", "c++"])
def test_a_language_is_known_by_all_its_names(language: str) -> None:
    (item,) = take_in(_body(language, {**DOUBLE, "prelude": ""}), "batch", RULES).items
    assert json.loads(item.submission).get("language", "python") == language


def test_compiling_has_time_before_a_worker_counts_as_stuck() -> None:
    python, cpp = (
        take_in(_body(name, DOUBLE), "batch", RULES).items[0].deadline_s for name in ("python", "cpp")
    )
    assert cpp > python + 100


def test_the_list_tells_names_versions_and_modes() -> None:
    assert listed(KNOWN) == [
        {
            "name": "python",
            "version": "3.12.1",
            "description": "CPython 3.12.1",
            "aliases": [],
            "modes": ["stdio", "call", "assert"],
        },
        {
            "name": "cpp20",
            "version": "13.2.0",
            "description": "C++20, g++ -O2 13.2.0",
            "aliases": ["cpp", "c++"],
            "modes": ["stdio"],
        },
    ]


PROGRAM = "#include <iostream>\nint main() { return 0; }\n"
SCRIPT = "const fs = require('fs');\nconsole.log(1);\n"


@pytest.mark.parametrize(
    ("completion", "code", "reason"),
    [
        pytest.param(f"Like so:\n```cpp\n{PROGRAM}```\nDone.", PROGRAM, "fenced", id="its tag"),
        pytest.param(f"Like so:\n```C++\n{PROGRAM}```\n", PROGRAM, "fenced", id="another spelling"),
        pytest.param(f"```\n{PROGRAM}```\n```python\nprint(1)\n```", PROGRAM, "fenced", id="no tag"),
        pytest.param(
            f"```\n1 2\n```\n```cpp\n{PROGRAM}```\n```\n3\n```", PROGRAM, "fenced", id="samples around it"
        ),
        pytest.param(f"```cpp\nint x;\n```\n```cpp\n{PROGRAM}```", PROGRAM, "fenced", id="the last"),
        pytest.param(
            f"<think>```cpp\nint x;\n```</think>\n```cpp\n{PROGRAM}```", PROGRAM, "fenced", id="reasoning"
        ),
        pytest.param(PROGRAM, PROGRAM, "whole_text", id="the program alone"),
        pytest.param(
            f"{PROGRAM}```\nIt ends at once.\n```\n1\n```", PROGRAM, "prefilled_fence", id="prefilled"
        ),
        pytest.param(f"```cpp\n{PROGRAM}", PROGRAM, "fenced", id="cut off"),
        pytest.param(
            f"// A comment.\n/* ** */\n{PROGRAM}",
            f"// A comment.\n/* ** */\n{PROGRAM}",
            "whole_text",
            id="comments",
        ),
        pytest.param(f"// As asked:\n```cpp\n{PROGRAM}```\n", PROGRAM, "fenced", id="a comment as prose"),
        pytest.param("```python\nprint(1)\n```", None, "no_code", id="another language only"),
        pytest.param("I cannot do that.", None, "no_code", id="prose"),
        pytest.param("", None, "empty", id="nothing"),
    ],
)
def test_a_cpp_program_is_found_in_a_completion(completion: str, code: str | None, reason: str) -> None:
    found = extract(completion, language="cpp20", marks=MARKS["cpp"])
    assert (found.code, found.reason) == (code, reason)


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("c", "/* sum */\n#include <stdio.h>\nint main(void) {}\n"),
        ("go", "package main\n\nfunc main() {}\n"),
        ("java", "import java.util.*;\n\npublic class Main {}\n"),
        ("javascript", SCRIPT),
        ("javascript", "'use strict';\nlet x = 1;\n"),
        ("rust", "use std::io;\n\nfn main() {}\n"),
    ],
)
def test_a_program_alone_is_known_by_how_it_begins(language: str, program: str) -> None:
    assert extract(program, language=language, marks=MARKS[language]).code == program
    assert extract(f"Sure:\n\n{program}", language=language, marks=MARKS[language]).code is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", "let me think about it"),
        ("javascript", "import duties are high"),
        ("javascript", "class dismissed"),
        ("javascript", "function follows form"),
        ("rust", "use the force"),
        ("java", "package tours are cheap"),
        ("java", "class struggle"),
        ("go", "package deals"),
        ("cpp", "# Heading"),
    ],
)
def test_prose_that_begins_like_a_program_is_none(language: str, text: str) -> None:
    assert extract(text, language=language, marks=MARKS[language]).code is None


def test_without_marks_the_languages_name_is_the_tag() -> None:
    assert extract("```lua\nprint(1)\n```", language="lua").code == "print(1)\n"
    assert extract("```lua\nprint(1)\n```", language="lua", marks=CodeMarks(("x",))).code is None


@pytest.mark.parametrize("language", sorted(MARKS))
def test_hostile_beginnings_take_linear_time(language: str) -> None:
    started = time.process_time()
    words = (
        "let ",
        "import ",
        "class ",
        "function ",
        "package ",
        "public ",
        "use ",
        "fn ",
        "#",
        "using ",
        "// x\n",
        "/**/",
    )
    texts = [word * 50_000 for word in words] + [word + " " * 200_000 for word in words]
    for text in (
        *texts,
        "/*" * 100_000,
        "/*" + "*" * 200_000,
        "let " + "a," * 100_000,
        "import " + "a " * 100_000,
    ):
        assert extract(f"{text}\nno code", language=language, marks=MARKS[language]).code is None
    assert time.process_time() - started < 30
