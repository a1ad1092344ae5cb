#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

typedef int Connect(int, const struct sockaddr *, socklen_t);

// Replaces the C library's function, so that a connected Unix socket, such as one end of a pair, can be libcurl's
// connection: before 8.14.1 libcurl connects a socket although it was told that it is connected.
int connect(int fd, const struct sockaddr *address, socklen_t length) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (address && address->sa_family == AF_UNIX && getpeername(fd, (struct sockaddr *)&peer, &size) == 0) return 0;
    Connect *next;
    // As POSIX requires it; ISO C does not allow the conversion.
    *(void **)&next = dlsym(RTLD_NEXT, "connect");
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    return next(fd, address, length);
}
