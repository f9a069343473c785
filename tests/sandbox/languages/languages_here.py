"""Which languages this machine can judge, and small programs in each of them."""

from __future__ import annotations

from functools import cache

import pytest

from sandbox import Limits, RunResult, Sandbox, SandboxSettings, StdioInput, languages
from sandbox.facts import Program
from service.settings import default_python

# Enough for any program here on a machine that does other things as well.
LIMITS = Limits(cpu_time_s=4.0, wall_time_s=30.0, memory_bytes=256 << 20, output_bytes=1 << 20)


@cache
def found() -> frozenset[str]:
    return frozenset(one.name for one in languages(SandboxSettings(python=default_python())))


def needs(language: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(language not in found(), reason=f"no toolchain for {language} here")


def run(
    sandbox: Sandbox, language: str, source: str, stdin: bytes = b"", limits: Limits = LIMITS
) -> RunResult:
    """Compile and run once; a program that does not compile fails the test."""
    with sandbox.session(Program(source, language=language), limits) as session:
        assert session.compiled.ok, session.compiled.message
        return session.run(StdioInput(stdin), limits)


ALL = ("c", "cpp17", "cpp20", "go", "java", "javascript", "rust")
EACH = [pytest.param(name, marks=needs(name)) for name in ALL]

# Reads two integers and prints their sum.
SUM = {
    "c": r"""#include <stdio.h>
int main(void) { long a, b; scanf("%ld %ld", &a, &b); printf("%ld\n", a + b); }
""",
    "cpp": r"""#include <iostream>
int main() { long a, b; std::cin >> a >> b; std::cout << a + b << '\n'; }
""",
    "go": """package main

import "fmt"

func main() {
	var a, b int
	fmt.Scan(&a, &b)
	fmt.Println(a + b)
}
""",
    "java": """import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        System.out.println(in.nextInt() + in.nextInt());
    }
}
""",
    "javascript": """const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);
console.log(a + b);
""",
    "rust": """use std::io::read_to_string;
fn main() {
    let text = read_to_string(std::io::stdin()).unwrap();
    let sum: i64 = text.split_whitespace().map(|word| word.parse::<i64>().unwrap()).sum();
    println!("{sum}");
}
""",
}
# Does what the first word of its input says; see ACTIONS.
ACTOR = {
    "c": r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int depth(int n) { volatile char frame[64]; frame[0] = n; return n == 0 ? 0 : 1 + depth(n - 1) + frame[0] * 0; }
int main(void) {
    char word[32]; scanf("%31s", word);
    if (!strcmp(word, "fail")) return 3;
    if (!strcmp(word, "crash")) abort();
    if (!strcmp(word, "loop")) for (volatile int i = 0;; i++);
    if (!strcmp(word, "flood")) for (;;) puts("0123456789012345678901234567890123456789012345678901234567890123456789");
    if (!strcmp(word, "eat")) for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    if (!strcmp(word, "deep")) printf("%d\n", depth(500000));
}""",
    "cpp": r"""
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
int depth(int n) { volatile char frame[64]; frame[0] = n; return n == 0 ? 0 : 1 + depth(n - 1) + frame[0] * 0; }
int main() {
    char text[32]; if (scanf("%31s", text) != 1) return 9;
    std::string word = text;
    if (word == "fail") return 3;
    if (word == "crash") throw 5;
    if (word == "loop") for (volatile int i = 0;; i++);
    if (word == "flood") for (;;) puts("0123456789012345678901234567890123456789012345678901234567890123456789");
    if (word == "eat") for (std::vector<std::vector<int>> all;;) all.emplace_back(1 << 18, 1);
    if (word == "deep") printf("%d\n", depth(500000));
}""",
    "go": r"""
package main

import (
	"fmt"
	"os"
)

func depth(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + depth(n-1)
}

func main() {
	var word string
	fmt.Scan(&word)
	switch word {
	case "fail":
		os.Exit(3)
	case "crash":
		panic("no")
	case "loop":
		for {
		}
	case "flood":
		for {
			fmt.Println("0123456789012345678901234567890123456789012345678901234567890123456789")
		}
	case "eat":
		all := [][]int{}
		for {
			one := make([]int, 1<<17)
			for i := range one {
				one[i] = 1
			}
			all = append(all, one)
		}
	case "deep":
		fmt.Println(depth(500000))
	}
}
""",
    "java": r"""
import java.util.*;

class Helper { static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); } }

public class Main {
    public static void main(String[] args) {
        switch (new Scanner(System.in).next()) {
            case "fail": System.exit(3);
            case "crash": throw new IllegalStateException("no");
            case "loop": for (int i = 0;; i++) if (i == -1 && args.length > 9) break;
            case "flood": for (;;) System.out.println("0123456789012345678901234567890123456789012345678901234567");
            case "eat": for (List<int[]> all = new ArrayList<>();;) all.add(new int[1 << 18]);
            case "deep": System.out.println(Helper.depth(500000));
        }
    }
}
""",
    "javascript": r"""
const depth = n => n === 0 ? 0 : 1 + depth(n - 1);
switch (require('fs').readFileSync('/dev/stdin', 'utf8').trim()) {
    case 'fail': process.exit(3);
    case 'crash': throw new Error('no');
    case 'loop': for (;;);
    case 'flood': for (;;) console.log('0123456789'.repeat(10));
    case 'eat': for (const all = [];;) all.push(new Array(1 << 17).fill(1.5));
    case 'deep': console.log(depth(500000));
}
""",
    "rust": r"""
fn depth(n: u64) -> u64 { if n == 0 { 0 } else { 1 + std::hint::black_box(depth(n - 1)) } }

fn main() {
    let mut word = String::new();
    std::io::stdin().read_line(&mut word).unwrap();
    match word.trim() {
        "fail" => std::process::exit(3),
        "crash" => panic!("no"),
        "loop" => loop { std::hint::black_box(0); },
        "flood" => loop { println!("0123456789012345678901234567890123456789012345678901234567890123456789"); },
        "eat" => { let mut all = vec![]; loop { all.push(vec![1u8; 1 << 20]); } }
        "deep" => println!("{}", depth(500000)),
        _ => {}
    }
}
""",
}


def base(language: str) -> str:
    """Give the name under which the programs above are listed."""
    return language.rstrip("0123456789")
