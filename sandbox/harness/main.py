"""First process of the jail: ``python main.py [SETTINGS]`` with the control channel as its standard input.

With settings (see zygote.py) it forks for one program after the other; without, it serves a single one. The program
runs at the top of this file's stack, so that it has the recursion depth that it would have alone.
"""

import sys

sys.path.insert(0, __file__.rsplit("/", 3)[0])

from sandbox.harness import loop

if len(sys.argv) > 1:
    from sandbox.harness import zygote

    sys.path.pop(0)
    job = zygote.serve(sys.argv[1])
else:
    sys.path.pop(0)
    job = loop.serve(loop.begin())
# Only a new child comes here, with the program that it is to run.
while True:
    try:
        exec(job.code, job.namespace)  # noqa: S102 - this is what the jail is for
        job.proceed()
    except BaseException as error:  # noqa: BLE001 - an uncaught exception of the program, whatever it is
        job.fail(error)
    job = job.after()
