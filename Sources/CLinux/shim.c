#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int CLinux_accept(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int on = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    return fd;
}

int CLinux_peer_credentials(int fd, uid_t *uid, gid_t *gid, pid_t *pid) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *uid = credentials.uid;
    *gid = credentials.gid;
    *pid = credentials.pid;
    return 0;
}

int CLinux_open_unnamed(const char *directory) {
    return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int CLinux_open_unnamed_in(int folder) {
    return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int CLinux_link_unnamed_in(int fd, int folder, const char *name) {
    char source[40];
    snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, source, folder, name, AT_SYMLINK_FOLLOW) == 0) return 0;
    return errno == ENOENT ? linkat(fd, "", folder, name, AT_EMPTY_PATH) : -1;
}

static int prepare(posix_spawn_file_actions_t *actions, int log, int status) {
    int error = posix_spawn_file_actions_adddup2(actions, log, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, log, 2);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, status, 3);
    if (error == 0) error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_addchdir_np(actions, "/");
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, 4);
    return error;
}

pid_t CLinux_spawn_detached(const char *path, char *const arguments[], char *const environment[], int log, int status) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t pid = -1;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) { errno = error; return -1; }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        posix_spawnattr_setsigmask(&attributes, &none);
        // Signals that the starting program ignores, such as SIGHUP under nohup, get their defaults.
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        error = prepare(&actions, log, status);
        if (error == 0) error = posix_spawn(&pid, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) { errno = error; return -1; }
    return pid;
}

char **CLinux_environment(void) {
    return environ;
}

int CLinux_forbid_inspection(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int CLinux_identify(const char *path, uint64_t parts[3]) {
    struct statx found;
    if (!parts) { errno = EINVAL; return -1; }
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &found) != 0) return -1;
    parts[0] = ((uint64_t)found.stx_dev_major << 32) | found.stx_dev_minor;
    parts[1] = found.stx_ino;
    // 0 before Linux 5.8, for every path.
    parts[2] = (found.stx_mask & STATX_MNT_ID) ? found.stx_mnt_id : 0;
    return 0;
}

int CLinux_peer_process(int socket) {
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
    int process = -1;
    socklen_t length = sizeof process;
    return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &length) == 0 ? process : -1;
}

int CLinux_open_process(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int CLinux_process_lives(int process) {
    struct pollfd end = {.fd = process, .events = POLLIN};
    int result = poll(&end, 1, 0);
    return result < 0 ? -1 : result == 0;
}

static char unlinked_path[4096];

static void unlink_and_raise(int number) {
    unlink(unlinked_path);
    raise(number); // SA_RESETHAND has restored the default action
}

int CLinux_unlink_on_termination(const char *path) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    if (strlen(path) >= sizeof unlinked_path) { errno = ENAMETOOLONG; return -1; }
    strcpy(unlinked_path, path);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_handler = unlink_and_raise, .sa_flags = SA_RESETHAND}, former;
        if (sigaction(signals[i], NULL, &former) == 0 && former.sa_handler == SIG_DFL) sigaction(signals[i], &action, NULL);
    }
    return 0;
}

int CLinux_set_close_on_exec(int fd, int enabled) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0) return -1;
    return fcntl(fd, F_SETFD, enabled ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC);
}

int CLinux_set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -1;
    return fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

ssize_t CLinux_receive(int fd, void *bytes, size_t size, int *descriptors, int capacity, int *count) {
    enum { most = 253 }; // SCM_MAX_FD of the kernel
    union {
        struct cmsghdr header; // aligns the buffer
        char bytes[CMSG_SPACE(sizeof(int) * most)];
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *count = 0;
    ssize_t received = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t found = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < found; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
            if (*count < capacity) descriptors[(*count)++] = descriptor;
            else close(descriptor);
        }
    }
    // The buffer has room for all that one message may pass.
    if (message.msg_flags & MSG_CTRUNC && *count < capacity) descriptors[(*count)++] = CLINUX_MISSING_DESCRIPTOR;
    return received;
}

ssize_t CLinux_peek(int fd, void *bytes, size_t size, int *has_descriptors) {
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t received = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);
    *has_descriptors = received >= 0 && message.msg_flags & MSG_CTRUNC;
    return received;
}

int CLinux_exit_code(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ssize_t CLinux_send_with_descriptors(int fd, const void *bytes, size_t count, const int *passed, int passed_count) {
    union {
        struct cmsghdr header; // aligns the buffer
        char bytes[CMSG_SPACE(CLINUX_MOST_DESCRIPTORS * sizeof(int))];
    } control = {0};
    if (passed_count < 1 || passed_count > CLINUX_MOST_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    size_t size = (size_t)passed_count * sizeof(int);
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(size)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), passed, size);
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t CLinux_move_from_pipe(int pipe, int fd, size_t size) { return splice(pipe, NULL, fd, NULL, size, SPLICE_F_MOVE); }

int CLinux_sealed_file(const void *bytes, size_t count) {
    int fd = memfd_create("carpool-body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    size_t done = 0;
    while (done < count) {
        ssize_t written = write(fd, (const char *)bytes + done, count - done);
        if (written > 0) done += (size_t)written;
        else if (written == 0 || errno != EINTR) break;
    }
    if (done == count && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0
        && lseek(fd, 0, SEEK_SET) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int CLinux_netlink_open(int receive_buffer) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    // The kernel grants what its limit allows; less is no error.
    if (receive_buffer > 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int CLinux_netlink_join(int fd, unsigned group) {
    return setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group);
}

ssize_t CLinux_netlink_receive(int fd, void *bytes, size_t size) {
    for (;;) {
        struct sockaddr_nl sender = {0};
        socklen_t length = sizeof sender;
        ssize_t count = recvfrom(fd, bytes, size, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (sender.nl_pid != 0) continue;
        if ((size_t)count <= size) return count;
        errno = EMSGSIZE;
        return -1;
    }
}

int CLinux_link_detected(const char *name) {
    struct ethtool_value value = {.cmd = ETHTOOL_GLINK};
    struct ifreq request = {.ifr_data = (void *)&value};
    if (strlen(name) >= sizeof request.ifr_name) { errno = ENAMETOOLONG; return -1; }
    strcpy(request.ifr_name, name);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result = ioctl(fd, SIOCETHTOOL, &request);
    int error = errno;
    close(fd);
    errno = error;
    return result < 0 ? -1 : value.data != 0;
}

struct thread_start {
    void (*body)(void *context);
    void *context;
    char name[16];
};

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), start.name);
    start.body(start.context);
    return NULL;
}

int CLinux_start_thread(const char *name, void (*body)(void *context), void *context) {
    struct thread_start *start = calloc(1, sizeof *start);
    if (!start) return ENOMEM;
    start->body = body;
    start->context = context;
    strncpy(start->name, name, sizeof start->name - 1);
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) { free(start); return error; }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // A new thread inherits the signal mask: signals belong to the thread that reads them with signalfd(2).
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pthread_t thread;
    error = pthread_create(&thread, &attributes, run_thread, start);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    pthread_attr_destroy(&attributes);
    if (error != 0) free(start);
    return error;
}

int CLinux_wait_for_semaphore(sem_t *semaphore, uint64_t nanoseconds) {
    struct timespec end = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
    int result;
    do result = sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
    while (result != 0 && errno == EINTR);
    return result;
}

long CLinux_voluntary_switches(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : -1;
}

int CLinux_processor(void) {
    return sched_getcpu();
}
