"""What a compiled program finds in its jail, and that it can change nothing for its next run."""

from __future__ import annotations

import pytest

from sandbox import End, Program, Sandbox, StdioInput
from tests.sandbox.languages.languages_here import LIMITS, needs, run

# Tries to change the file that it was started from, by every name that it has, and leaves files behind.
VANDAL = r"""
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void list(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *one; folder && (one = readdir(folder));)
        if (one->d_name[0] != '.') printf(" %s", one->d_name);
    printf(";");
    if (folder) closedir(folder);
}

int main(void) {
    const char *names[] = {"/proc/self/exe", "/proc/self/fd/3", "/box/source/program"};
    for (int i = 0; i < 3; i++) {
        int fd = open(names[i], O_RDWR);
        printf("%s %d;", names[i], fd >= 0 && write(fd, "broken", 6) == 6);
        chmod(names[i], 0777);
        printf("%d;", truncate(names[i], 0) == 0);
    }
    list("/box/work"); list("/box/source"); list("/tmp"); list("/dev/shm");
    fclose(fopen("/box/work/left", "w"));
    fclose(fopen("/box/source/left", "w"));
    fclose(fopen("/tmp/left", "w"));
    for (int fd = 3; fd < 256; fd++) if (fcntl(fd, F_GETFD) >= 0) printf("fd %d;", fd);
    printf("\n");
}"""
LOOKS = r"""
#include <stdio.h>
#include <unistd.h>
int main(void) {
    const char *paths[] = {"/usr/bin/gcc", "/usr/bin/as", "/usr/bin/ld", "/usr/bin/sh", "/usr/include/stdio.h",
        "/usr/lib/gcc/x86_64-linux-gnu", "/usr/lib/jvm/default-java", "/usr/bin/node", "/toolchain",
        "/etc/shadow", "/home", "/opt"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], F_OK) == 0) puts(paths[i]);
    printf("%d %d\n", getuid(), getpid() < 100);
}"""


@needs("c")
def test_a_program_cannot_change_itself_nor_leave_anything(sandbox: Sandbox) -> None:
    with sandbox.session(Program(VANDAL, language="c"), LIMITS) as session:
        assert session.compiled.ok, session.compiled.message
        results = [session.run(StdioInput(), LIMITS) for _ in range(3)]
    assert {result.end for result in results} == {End.EXITED}
    nothing = b"/proc/self/exe 0;0;/proc/self/fd/3 0;0;/box/source/program 0;0;;;;;\n"
    assert [result.stdout for result in results] == [nothing] * 3


@needs("c")
def test_a_program_sees_no_compiler_and_nothing_of_the_host(sandbox: Sandbox) -> None:
    assert run(sandbox, "c", LOOKS).stdout == b"1000 1\n"


@needs("javascript")
def test_a_script_that_overwrites_itself_is_whole_again_in_the_next_run(sandbox: Sandbox) -> None:
    source = (
        "const fs = require('fs');\nfs.chmodSync('/box/source', 0o777);\nfs.chmodSync(__filename, 0o666);\n"
        "fs.writeFileSync(__filename, 'console.log(7)');\nfs.writeFileSync('/box/source/other.js', '');\n"
        "const names = Object.keys(process.env).sort();\n"
        "console.log(fs.readdirSync('/box/source').join(), names.includes('PATH'), names.join());"
    )
    with sandbox.session(Program(source, language="javascript"), LIMITS) as session:
        results = [session.run(StdioInput(), LIMITS) for _ in range(2)]
    assert results[0].exit_code == 0, results[0].stderr
    assert results[0].stdout == results[1].stdout
    assert results[0].stdout.startswith(b"main.js,other.js true ")
    assert b"MICROCODER" not in results[0].stdout


@needs("javascript")
def test_a_script_reads_its_input_in_every_usual_way(sandbox: Sandbox) -> None:
    ways = (
        "console.log(require('fs').readFileSync(0, 'utf8').trim())",
        "console.log(require('fs').readFileSync('/dev/stdin', 'utf8').trim())",
        "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log(s.trim()))",
        "require('readline').createInterface({input: process.stdin}).on('line', l => console.log(l))",
        "const all = require('readline').createInterface({input: process.stdin});\n"  # noqa: ISC004 - one program
        "(async () => { for await (const l of all) console.log(l) })()",
    )
    for source in ways:
        assert run(sandbox, "javascript", source, b"hello\n").stdout == b"hello\n", source


@needs("c")
@pytest.mark.parametrize("flag", ["SIG_IGN", "SIG_DFL"])
def test_dead_children_are_counted_whatever_is_done_with_their_signal(sandbox: Sandbox, flag: str) -> None:
    """CPU time of children that were ignored would otherwise be nobody's."""
    source = (
        "#include <signal.h>\n#include <sys/wait.h>\n#include <time.h>\n#include <unistd.h>\nint main(void) {\n"
        f"    signal(SIGCHLD, {flag});\n    for (int i = 0; i < 3; i++) {{\n        if (fork() == 0) {{\n"
        "            while (clock() < CLOCKS_PER_SEC / 5);\n            _exit(0);\n        }\n"
        "        wait(0);\n    }\n}"
    )
    result = run(sandbox, "c", source)
    assert result.end is End.EXITED, result
    assert result.cpu_time_s > 0.5


@needs("go")
def test_a_runtime_that_handles_sigchld_makes_no_processes(sandbox: Sandbox) -> None:
    """Go does not start otherwise; its programs have threads, as many as they like, and no children."""
    source = (
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"os/exec"\n\t"sync"\n\t"syscall"\n)\n\nfunc main() {\n'
        '\tfmt.Println(exec.Command("/usr/bin/echo", "hello").Run())\n'
        "\t_, _, number := syscall.RawSyscall(syscall.SYS_FORK, 0, 0, 0)\n\tfmt.Println(number)\n"
        "\tvar all sync.WaitGroup\n\tfor i := 0; i < 8; i++ {\n\t\tall.Add(1)\n\t\tgo func() { all.Done() }()\n\t}\n"
        "\tall.Wait()\n\tfmt.Fprintln(os.Stdout, 8)\n}\n"
    )
    result = run(sandbox, "go", source)
    assert result.end is End.EXITED, result
    first, second, third = result.stdout.decode().splitlines()
    assert "operation not permitted" in first
    assert (second, third) == ("operation not permitted", "8")
