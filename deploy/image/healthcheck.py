"""Ends with 0 if the service in this container is ready to judge: ``healthcheck.py [/path]``, by default ``/readyz``.

Standard library only, so that asking every few seconds costs next to nothing.
"""

import http.client
import os
import sys

TIMEOUT_S = 4.0


def main() -> int:
    """Ask once; return the exit status."""
    path = sys.argv[1] if len(sys.argv) > 1 else "/readyz"
    connection = http.client.HTTPConnection(
        "127.0.0.1", int(os.environ.get("MICROCODER_PORT", "8000")), timeout=TIMEOUT_S
    )
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        sys.stdout.write(answer.read(1000).decode(errors="replace"))
    except (OSError, http.client.HTTPException) as error:
        sys.stdout.write(f"no answer: {error}")
        return 1
    return 0 if answer.status == http.client.OK else 1


sys.exit(main())
