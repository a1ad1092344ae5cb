// A disk that stalls: calls on files below one folder wait for as long as a control file exists.
//
// Built as a shared library of the name libjansson.so.4 that needs the real one under another name, and found through LD_LIBRARY_PATH, since
// a daemon keeps no LD_PRELOAD: what a direct dependency defines comes before the C library's. The control file is `stall` beside the library; its
// content is the folder. Calls by path, by a name in an open folder and by descriptor wait alike, until the file is deleted.
// Each call that waits adds a line to the file `calls` beside the library: the thread's id and the call's name. While there is a control
// file `watch` with the folder as content, every call below it adds such a line.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

// System calls of this library bypass the functions below.
static long call(long number, long a, long b, long c, long d, long e, long f) {
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d, e, f);
}

// Opens a file beside this library.
static long open_beside(const char *name, int flags) {
    char path[PATH_MAX];
    Dl_info info;
    if (dladdr((void *)open_beside, &info) == 0) return -1;
    const char *slash = strrchr(info.dli_fname, '/');
    if (!slash) return -1;
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname, name);
    return call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0600, 0, 0);
}

// The folder in a control file, if the file is there.
static int folder(const char *control, char room[PATH_MAX]) {
    long fd = open_beside(control, O_RDONLY);
    if (fd < 0) return 0;
    long count = call(SYS_read, fd, (long)room, PATH_MAX - 1, 0, 0, 0);
    call(SYS_close, fd, 0, 0, 0, 0, 0);
    if (count <= 0) return 0;
    room[count] = 0;
    return 1;
}

static int is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static void note_call(const char *name) {
    long fd = open_beside("calls", O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0) return;
    char line[64];
    int length = snprintf(line, sizeof line, "%ld %s\n", call(SYS_gettid, 0, 0, 0, 0, 0, 0), name);
    call(SYS_write, fd, (long)line, length, 0, 0, 0);
    call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void wait_for_path(const char *name, const char *path) {
    char below[PATH_MAX], target[PATH_MAX];
    int error = errno, is_noted = 0;
    if (path && strncmp(path, "/proc/self/fd/", 14) == 0) {
        long count = call(SYS_readlinkat, AT_FDCWD, (long)path, (long)target, sizeof target - 1, 0, 0);
        if (count > 0) { target[count] = 0; path = target; }
    }
    if (path && folder("watch", below) && is_below(path, below)) {
        note_call(name);
        is_noted = 1;
    }
    while (path && folder("stall", below) && is_below(path, below)) {
        if (!is_noted) note_call(name);
        is_noted = 1;
        struct timespec pause = {.tv_nsec = 5000000};
        nanosleep(&pause, NULL);
    }
    errno = error;
}

static void wait_for(const char *name, int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    wait_for_path(name, path);
}

// A relative path lies below the folder.
static void wait_at(const char *name, int folder, const char *path) {
    if ((path && path[0] == '/') || folder == AT_FDCWD) wait_for_path(name, path);
    else wait_for(name, folder);
}

#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list); \
        wait_for_path(#name, path); \
        return (int)call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0); \
    }
#define OPENING_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list); \
        wait_at(#name, folder, path); \
        return (int)call(SYS_openat, folder, (long)path, flags, mode, 0, 0); \
    }

OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long), d = va_arg(list, long),
         e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (number == SYS_openat2) wait_for_path("openat2", (const char *)b);
    return call(number, a, b, c, d, e, f);
}

#define BY_PATH(result, name, parameters, arguments, path, ...) \
    result name parameters { REAL(result, name, __VA_ARGS__); wait_for_path(#name, path); return real arguments; }
#define BY_NAME(result, name, parameters, arguments, folder, path, ...) \
    result name parameters { REAL(result, name, __VA_ARGS__); wait_at(#name, folder, path); return real arguments; }
#define BY_DESCRIPTOR(result, name, parameters, arguments, ...) \
    result name parameters { REAL(result, name, __VA_ARGS__); wait_for(#name, fd); return real arguments; }

BY_PATH(int, stat, (const char *path, struct stat *s), (path, s), path, const char *, struct stat *)
BY_PATH(int, lstat, (const char *path, struct stat *s), (path, s), path, const char *, struct stat *)
BY_PATH(int, access, (const char *path, int mode), (path, mode), path, const char *, int)
BY_PATH(int, unlink, (const char *path), (path), path, const char *)
BY_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode), path, const char *, mode_t)
BY_PATH(int, rmdir, (const char *path), (path), path, const char *)
BY_PATH(int, rename, (const char *path, const char *to), (path, to), path, const char *, const char *)
BY_PATH(int, link, (const char *from, const char *path), (from, path), path, const char *, const char *)
BY_NAME(int, fstatat, (int a, const char *path, struct stat *s, int flags), (a, path, s, flags), a, path,
    int, const char *, struct stat *, int)
BY_NAME(int, unlinkat, (int a, const char *path, int flags), (a, path, flags), a, path, int, const char *, int)
BY_NAME(int, mkdirat, (int a, const char *path, mode_t mode), (a, path, mode), a, path, int, const char *, mode_t)
BY_NAME(int, linkat, (int a, const char *from, int b, const char *path, int flags), (a, from, b, path, flags), b, path,
    int, const char *, int, const char *, int)
BY_NAME(int, renameat, (int a, const char *path, int b, const char *to), (a, path, b, to), a, path,
    int, const char *, int, const char *)
BY_NAME(int, renameat2, (int a, const char *path, int b, const char *to, unsigned flags), (a, path, b, to, flags), a, path,
    int, const char *, int, const char *, unsigned)
BY_PATH(char *, realpath, (const char *path, char *room), (path, room), path, const char *, char *)
BY_PATH(DIR *, opendir, (const char *path), (path), path, const char *)
BY_DESCRIPTOR(int, fstat, (int fd, struct stat *s), (fd, s), int, struct stat *)
BY_DESCRIPTOR(int, fstatfs, (int fd, struct statfs *s), (fd, s), int, struct statfs *)
BY_DESCRIPTOR(int, fsync, (int fd), (fd), int)
BY_DESCRIPTOR(int, ftruncate, (int fd, off_t size), (fd, size), int, off_t)
BY_DESCRIPTOR(int, fchmod, (int fd, mode_t mode), (fd, mode), int, mode_t)
BY_DESCRIPTOR(int, close, (int fd), (fd), int)
BY_DESCRIPTOR(ssize_t, read, (int fd, void *b, size_t n), (fd, b, n), int, void *, size_t)
BY_DESCRIPTOR(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n), int, const void *, size_t)
BY_DESCRIPTOR(ssize_t, pread, (int fd, void *b, size_t n, off_t o), (fd, b, n, o), int, void *, size_t, off_t)
BY_DESCRIPTOR(ssize_t, pread64, (int fd, void *b, size_t n, off_t o), (fd, b, n, o), int, void *, size_t, off_t)
BY_DESCRIPTOR(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o), int, const void *, size_t,
    off_t)
