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
enum operation { START_LOCKSTEP = 'l', START_TEMPLATE = 't', START_SERVED = 's', END = 'e' };

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

struct used {
    int status; /* of the one that counts, -1 where it is not known */
    double cpu_time_s;
    long peak_kib;
};

/* Waits for `wanted` (-1: anybody) and adds what it used, its own children's included; 0 where nobody is left. */
static int reap(pid_t wanted, pid_t counts, struct used *used)
{
    int how;
    struct rusage usage;
    pid_t pid;
    while ((pid = wait4(wanted, &how, __WALL, &usage)) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        return 0;
    if (pid == counts)
        used->status = how;
    used->cpu_time_s += usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
    used->cpu_time_s += (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    if (usage.ru_maxrss > used->peak_kib)
        used->peak_kib = usage.ru_maxrss;
    return 1;
}

static int tell(int channel, const struct used *used, const char *more)
{
    char answer[160];
    int size = snprintf(answer, sizeof answer, "status %d\ncpu_time_s %.6f\nmemory_peak_bytes %ld%s", used->status,
                        used->cpu_time_s, used->peak_kib * 1024, more);
    return send(channel, answer, size, MSG_NOSIGNAL) == size ? 0 : -1;
}

/* Ends the child with everything that it started, and tells how it ended and what all of it used. */
static int end(int channel, pid_t init, pid_t main)
{
    struct used used = {.status = -1};
    if (init) {
        if (kill(init, SIGKILL))
            return -1;
        /* In the order in which they die: an init ends only when everybody in its namespace has been waited for. */
        while (reap(-1, main, &used))
            ;
    }
    return tell(channel, &used, "");
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

/* In the child: sets its limits; none is raised, and an infinite one leaves things as they are. */
static int limit(const struct request *request)
{
    for (int i = 0; i < RESOURCES; i++) {
        struct rlimit now;
        if (getrlimit(request->kinds[i], &now))
            return -1;
        struct rlimit limits = {request->soft[i], request->hard[i]};
        if (limits.rlim_max > now.rlim_max)
            limits.rlim_max = now.rlim_max;
        if (limits.rlim_cur > limits.rlim_max)
            limits.rlim_cur = limits.rlim_max;
        if (setrlimit(request->kinds[i], &limits))
            return -1;
    }
    return 0;
}

static int become(const struct settings *settings, const struct request *request, const int *fds, int count)
{
    int of_one_program = request->operation != START_SERVED;
    if (private_files(settings) || (of_one_program && (limit(request) || place(fds, count))))
        return -1;
    if (drop(settings) || make_folders(settings))
        return -1;
    if (of_one_program && chdir(settings->folders[0]))
        return -1;
    if (request->operation == START_LOCKSTEP && setsid() < 0)
        return -1;
    prctl(PR_SET_DUMPABLE, request->operation == START_LOCKSTEP);
    return 0;
}

/* Answers requests; returns only in a child, with the operation that it was started for and its descriptors in `fds`;
   -errno in one that could not be made ready. Leaves the process when the other side is gone. */
int serve(const struct settings *settings, int *fds)
{
    /* What it forks shares its memory (an init) or its handlers: it handles no signal itself. */
    struct sigaction of_programs, none = {.sa_handler = SIG_DFL};
    sigaction(SIGINT, &none, &of_programs);
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
            sigaction(SIGINT, &of_programs, NULL);
            close(settings->channel);
            return become(settings, &request, fds, count) ? -errno : (int)request.operation;
        }
        if (main < 0)
            _exit(3);
        if (request.operation != START_LOCKSTEP)
            init = main;
        if (setns(settings->own_namespace, CLONE_NEWPID))
            _exit(4);
        for (int i = 0; i < count; i++)
            close(fds[i]);
    }
}

/* When the folders of /box, and the program's file, were last changed: any file that a run leaves changes one. */
static int changes(const char *const *paths, int count, struct timespec *times)
{
    for (int i = 0; i < count; i++) {
        struct stat state;
        if (lstat(paths[i], &state))
            return -1;
        times[i] = state.st_ctim;
    }
    return 0;
}

/* In a template, the first process of a program's namespace: forks for each run that is asked for, waits for the end of
   the run and ends whatever it has started. Returns only in the process of a run. The runs share descriptors 0 to 2, one
   after the other; only what a run may have set on them is put back. */
int serve_runs(int control, const char *const *paths, int count)
{
    /* A first process gets the signals that it handles even from those it started: it handles none, its runs do. */
    struct sigaction of_runs, none = {.sa_handler = SIG_DFL};
    sigaction(SIGINT, &none, &of_runs);
    struct timespec before[8], after[8];
    int known = count <= 8 && changes(paths, count, before) == 0;
    for (;;) {
        char order;
        if (recv(control, &order, 1, 0) != 1)
            _exit(0);
        pid_t run = _Fork();
        if (run == 0) {
            close(control);
            for (int i = 0; i < 3; i++)
                if (dup2(FIRST_KEPT + i, i) < 0 || close(FIRST_KEPT + i) || fcntl(i, F_SETFL, 0))
                    _exit(6);
            sigaction(SIGINT, &of_runs, NULL);
            setsid();
            prctl(PR_SET_DUMPABLE, 1);
            return 0;
        }
        if (run < 0)
            _exit(3);
        struct used used = {.status = -1};
        /* The run itself first, then all that is left: everybody but us, who alone cannot be signalled. */
        for (pid_t wanted = run; reap(wanted, run, &used); wanted = -1)
            kill(-1, SIGKILL);
        int clean = known && changes(paths, count, after) == 0 && memcmp(before, after, count * sizeof *before) == 0;
        if (tell(control, &used, clean ? "\nclean True" : "\nclean False"))
            _exit(1);
    }
}
