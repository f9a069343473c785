/* What a zygote does between two programs, without touching Python's heap: after a fork every page that is written to
   is copied, and interpreting a few lines writes to hundreds. zygote.py and namespaces.py do the same in Python where
   this could not be built; keep the three alike.

   A request is one message: `struct request` and descriptors. An answer is one message of "name value" lines. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_DESCRIPTORS = 8, RESOURCES = 6, FIRST_KEPT = 100, RAISED = 120 };
enum operation { START_LOCKSTEP = 'l', START_SERVED = 's', END = 'e' };

struct request {
    uint32_t operation;
    uint32_t kinds[RESOURCES]; /* RLIMIT_... */
    uint64_t soft[RESOURCES], hard[RESOURCES];
};

struct settings {
    int32_t channel, own_namespace, uid, proc;
    const char *box_options;
    const char *folders[4]; /* made in the new /box; the first is where a program starts */
    struct sock_fprog filter;
};

static char init_stack[1 << 14] __attribute__((aligned(16)));

static int idle(void *unused)
{
    (void)unused;
    while (pause())
        ;
    return 0;
}

/* Receives a request; returns the number of descriptors, -1 when the other side is gone. */
static int receive(int channel, struct request *request, int *fds)
{
    char control[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
    struct iovec data = {request, sizeof *request};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t size;
    while ((size = recvmsg(channel, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    if (size < (ssize_t)sizeof *request)
        return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS)
        return 0;
    size_t bytes = header->cmsg_len - CMSG_LEN(0);
    memcpy(fds, CMSG_DATA(header), bytes);
    return bytes / sizeof(int);
}

/* Ends the child with everything that it started, and tells how it ended and what all of it used. */
static int end(int channel, pid_t init, pid_t main)
{
    int status = -1;
    double cpu_time_s = 0;
    long peak_kib = 0;
    if (init) {
        if (kill(init, SIGKILL))
            return -1;
        /* The program first: an init ends only when everybody in its namespace has been waited for. */
        pid_t children[2] = {main, init};
        for (int i = main == init; i < 2; i++) {
            int how;
            struct rusage usage;
            while (wait4(children[i], &how, __WALL, &usage) < 0)
                if (errno != EINTR)
                    return -1;
            if (children[i] == main)
                status = how;
            cpu_time_s += usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
            cpu_time_s += (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
            if (usage.ru_maxrss > peak_kib)
                peak_kib = usage.ru_maxrss;
        }
    }
    char answer[128];
    int size = snprintf(answer, sizeof answer, "status %d\ncpu_time_s %.6f\nmemory_peak_bytes %ld", status, cpu_time_s,
                        peak_kib * 1024);
    return send(channel, answer, size, MSG_NOSIGNAL) == size ? 0 : -1;
}

/* In the child: a mount namespace with an empty /box and a /proc of its own process namespace. */
static int private_files(const struct settings *settings)
{
    if (unshare(CLONE_NEWNS) || mount("box", "/box", "tmpfs", MS_NOSUID | MS_NODEV, settings->box_options))
        return -1;
    if (settings->proc)
        return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "subset=pid,hidepid=invisible");
    return 0;
}

/* In the child: another user without any capability, held to one more filter, all for good. */
static int drop(const struct settings *settings)
{
    static const int capabilities[] = {CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_ADMIN};
    for (unsigned i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        prctl(PR_CAPBSET_DROP, capabilities[i], 0, 0, 0);
    uid_t uid = settings->uid;
    if (getuid() != uid && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
        return -1;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    if (syscall(SYS_capset, &header, none))
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &settings->filter, 0, 0);
}

static int make_folders(const struct settings *settings)
{
    for (int i = 0; i < 4; i++)
        if (mkdir(settings->folders[i], 0777) || chmod(settings->folders[i], 0777))
            return -1;
    return 0;
}

/* In the child: descriptors 0 to 2, the same once more from FIRST_KEPT on, then the channel and the specification;
   nothing else is open. */
static int place(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (dup3(fds[i], RAISED + i, O_CLOEXEC) < 0)
            return -1;
    for (int i = 0; i < count; i++)
        if (dup3(RAISED + i, FIRST_KEPT + i, O_CLOEXEC) < 0)
            return -1;
    syscall(SYS_close_range, FIRST_KEPT + count, ~0U, 0);
    for (int i = 0; i < 3; i++)
        if (dup2(FIRST_KEPT + i, i) < 0)
            return -1;
    return syscall(SYS_close_range, 3, FIRST_KEPT - 1, 0);
}

static int become(const struct settings *settings, const struct request *request, const int *fds, int count)
{
    if (private_files(settings))
        return -1;
    if (request->operation == START_LOCKSTEP) {
        for (int i = 0; i < RESOURCES; i++) {
            struct rlimit limit = {request->soft[i], request->hard[i]};
            if (setrlimit(request->kinds[i], &limit))
                return -1;
        }
        if (place(fds, count))
            return -1;
    }
    if (drop(settings) || make_folders(settings))
        return -1;
    if (request->operation == START_LOCKSTEP && (setsid() < 0 || chdir(settings->folders[0])))
        return -1;
    prctl(PR_SET_DUMPABLE, request->operation == START_LOCKSTEP);
    return 0;
}

/* Answers requests; returns only in a child, with the operation that it was started for and its descriptors in `fds`;
   -errno in one that could not be made ready. Leaves the process when the other side is gone. */
int serve(const struct settings *settings, int *fds)
{
    pid_t init = 0, main = 0;
    for (;;) {
        struct request request;
        int count = receive(settings->channel, &request, fds);
        if (count < 0)
            _exit(0); /* with the first process, the kernel ends all others */
        if (request.operation == END) {
            if (end(settings->channel, init, main))
                _exit(1);
            init = main = 0;
            continue;
        }
        if (unshare(CLONE_NEWPID))
            _exit(2);
        /* The first process in a namespace is its init. A harness may be that; a program must not: signals do not
           reach an init. One that only waits shares memory and descriptors with us, so nothing is copied for it. Orphans
           stay with it as zombies, so that their CPU time can still be read. */
        if (request.operation == START_LOCKSTEP)
            init = clone(idle, init_stack + sizeof init_stack, CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
        main = init < 0 ? -1 : _Fork();
        if (main == 0) {
            close(settings->channel);
            return become(settings, &request, fds, count) ? -errno : (int)request.operation;
        }
        if (main < 0)
            _exit(3);
        if (request.operation == START_SERVED)
            init = main;
        if (setns(settings->own_namespace, CLONE_NEWPID))
            _exit(4);
        for (int i = 0; i < count; i++)
            close(fds[i]);
    }
}
