"""First process of the jail: ``python main.py`` with the control channel as its standard input.

The program runs at the top of this file's stack, so that it has the recursion depth that it would have alone.
"""

import sys

sys.path.insert(0, __file__.rsplit("/", 3)[0])

from sandbox.harness import loop

sys.path.pop(0)
job = loop.serve()  # returns only in a new child, with the program that it is to run
try:
    exec(job.code, job.namespace)  # noqa: S102 - this is what the jail is for
    job.proceed()
except BaseException as error:  # noqa: BLE001 - an uncaught exception of the program, whatever it is
    job.fail(error)
