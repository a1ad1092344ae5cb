// Opening and reading what others have named or passed.

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int CLinux_open_path(const char *path) {
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    // Filters of containers answer EPERM to calls that they do not know.
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
    return open(path, O_PATH | O_CLOEXEC);
}

ssize_t CLinux_read_pipe(int fd, void *bytes, size_t size) {
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    return preadv2(fd, &part, 1, -1, RWF_NOWAIT);
}

ssize_t CLinux_splice_pipe(int fd, void *bytes, size_t size, int spare_read, int spare_write) {
    // What did not fit the room of an earlier call comes first.
    ssize_t count = read(spare_read, bytes, size);
    if (count > 0 || (count < 0 && errno != EAGAIN)) return count;
    ssize_t moved = splice(fd, NULL, spare_write, NULL, size, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (moved <= 0) return moved;
    return read(spare_read, bytes, size);
}

int CLinux_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

int CLinux_is_readable(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY;
}

int CLinux_is_memory_file(int fd) {
    return fcntl(fd, F_GET_SEALS) >= 0;
}

int CLinux_is_pipe(int fd) {
    return fcntl(fd, F_GETPIPE_SZ) >= 0;
}

// Opens one part of a path below a folder, and makes it first if it is missing and that is asked for.
static int open_part(int folder, const char *name, int makes_missing, unsigned mode) {
    int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int part = openat(folder, name, flags);
    if (part >= 0 || errno != ENOENT || !makes_missing) return part;
    if (mkdirat(folder, name, mode) != 0 && errno != EEXIST) return -1;
    return openat(folder, name, flags);
}

int CLinux_open_folder(const char *path, int makes_missing, unsigned mode) {
    int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0) {
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        if (length == 0) return folder;
        char name[NAME_MAX + 1];
        int part = -1;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(name, path, length);
            name[length] = 0;
            part = open_part(folder, name, makes_missing, mode);
        }
        int error = errno;
        close(folder);
        errno = error;
        folder = part;
        path += length;
    }
    return -1;
}

int CLinux_rename_between(int from_folder, const char *from, int to_folder, const char *to, int replaces) {
    if (replaces) return renameat(from_folder, from, to_folder, to);
    if (renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    if (linkat(from_folder, from, to_folder, to, 0) != 0) return -1;
    return unlinkat(from_folder, from, 0);
}
