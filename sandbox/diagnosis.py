"""What nsjail's messages mean, and what helps. Each pair was met on a real machine or in a container."""

from __future__ import annotations

from sandbox.errors import SandboxUnavailableError

# (all of these words in the message, cause, cure); the first that fits is given
KNOWN = (
    (
        ("libnl", "cannot open shared object"),
        "nsjail's binary needs the system library libnl-route-3.",
        "Install it: apt-get install libnl-route-3-200.",
    ),
    (
        ("clone", "operation not permitted"),
        "Making namespaces is forbidden: a container's seccomp profile or kernel.unprivileged_userns_clone=0.",
        "Use deploy/seccomp/worker.json (it allows clone, mount, umount2, pivot_root, sethostname), or set it to 1.",
    ),
    (
        ("clone", "permission denied"),
        "AppArmor forbids user namespaces.",
        "Run the container with apparmor=unconfined or a profile that allows `userns`.",
    ),
    (
        ("clone", "no space left"),
        "The limit on user namespaces is 0 or reached.",
        "Raise the sysctl user.max_user_namespaces.",
    ),
    (
        ("clone", "invalid argument"),
        "This kernel cannot make the namespaces (gVisor, for one, cannot).",
        "Run workers on an ordinary Linux kernel.",
    ),
    (
        ("gid_map", "operation not permitted"),
        "Root without CAP_SETUID and CAP_SETGID cannot map user ids.",
        "Run as an ordinary user (uid 1000, no capabilities), or add these two capabilities.",
    ),
    (
        ("uid_map", "operation not permitted"),
        "Root without CAP_SETUID and CAP_SETGID cannot map user ids.",
        "Run as an ordinary user (uid 1000, no capabilities), or add these two capabilities.",
    ),
    (
        ("pivot_root", "operation not permitted"),
        "The container's seccomp profile forbids pivot_root.",
        "Use deploy/seccomp/worker.json: it allows clone, mount, umount2, pivot_root and sethostname.",
    ),
    (
        ("mount", "operation not permitted"),
        "Mounting is forbidden in this container.",
        "Use a seccomp profile that allows mount and umount2; no capability is needed.",
    ),
    (
        ("mount", "permission denied"),
        "AppArmor forbids mounting in user namespaces, or a folder of the interpreter cannot be read.",
        "Set kernel.apparmor_restrict_unprivileged_userns=0 or load a profile that allows `userns` and `mount`.",
    ),
    (
        ("sethostname",),
        "The container's seccomp profile forbids sethostname.",
        "Use deploy/seccomp/worker.json: it allows clone, mount, umount2, pivot_root and sethostname.",
    ),
)


def explain(message: str) -> SandboxUnavailableError:
    """Return the error that tells a person why no jail can be set up and what to do."""
    lowered = message.lower()
    for words, cause, cure in KNOWN:
        if all(word in lowered for word in words):
            return SandboxUnavailableError(f"{cause} nsjail says: {_last(message)}", cure)
    return SandboxUnavailableError(
        f"No jail can be set up: {_last(message) or 'no message'}",
        "See what nsjail says; --sandbox=unsafe-process judges without any isolation, for trusted programs only.",
    )


def _last(message: str) -> str:
    lines = [line for line in message.splitlines() if line.strip()]
    return " / ".join(lines[:3])[:600]
