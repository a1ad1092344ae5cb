#include "CLinux.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

static _Thread_local int64_t span_ns, end_ns;

void CLinux_limit_receiving(int64_t microseconds) {
    span_ns = microseconds * 1000;
    end_ns = 0;
}

static _Thread_local int held = -1;

void CLinux_hold_sending(int fd) { held = fd; }

// Replaces the C library's function, as the next one does.
ssize_t send(int fd, const void *bytes, size_t size, int flags) {
    if (fd == held) {
        errno = EAGAIN;
        return -1;
    }
    return sendto(fd, bytes, size, flags, NULL, 0);
}

// Replaces the C library's function: a program's own symbol takes precedence over those of its libraries, also for
// libcurl.
ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    if (span_ns != 0 && (flags & MSG_PEEK) == 0) {
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        int64_t now = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
        if (end_ns == 0) {
            end_ns = now + span_ns;
        } else if (now >= end_ns) {
            errno = EAGAIN;
            return -1;
        }
    }
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}
