// Opens and reads files that clients have named or passed.

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

// Maximum number of symbolic links in a path, as in the kernel.
enum { maximum_links = 40 };

// Closes a descriptor and keeps errno.
static int close_failed(int fd) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int CLinux_is_planted(uid_t owner, uid_t folder_owner, unsigned folder_mode) {
    return (folder_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) && owner != geteuid() && owner != folder_owner;
}

// Whether a symbolic link in a folder may be followed.
static int may_follow(int folder, const struct stat *status) {
    struct stat above;
    if (fstat(folder, &above) != 0) return 0;
    if (!CLinux_is_planted(status->st_uid, above.st_uid, above.st_mode)) return 1;
    errno = EACCES;
    return 0;
}

// Puts the target of a link before the rest of a path. 0 or -1 with errno.
static int insert_target(int link, char *rest) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(link, "", target, sizeof target);
    if (length < 0) return -1;
    size_t kept = strlen(rest) + 1;
    if (length == 0) errno = ENOENT;
    if ((size_t)length + kept > PATH_MAX) errno = ENAMETOOLONG;
    if (length == 0 || (size_t)length + kept > PATH_MAX) return -1;
    memmove(rest + length, rest, kept);
    memcpy(rest, target, (size_t)length);
    return 0;
}

// How a path is opened.
struct opening {
    // The flags of open(2) for its last part, without O_TRUNC.
    int flags;
    mode_t mode;
    // Whether links of /proc to open files are followed.
    int follows_magic;
};

static int open_strictly(int folder, const char *path, const struct opening *how, uint64_t resolve) {
    struct open_how all = {.flags = (uint64_t)how->flags, .resolve = resolve};
    if (how->flags & O_CREAT) all.mode = how->mode;
    return (int)syscall(SYS_openat2, folder, path, &all, sizeof all);
}

// Whether openat2 is unknown: filters of containers return EPERM for unknown system calls.
static int lacks_openat2(void) { return errno == ENOSYS || errno == EPERM; }

// Whether a file may be opened wherever it was found: what is neither a pipe nor a regular file that may have been
// there (O_CREAT), and this user's own file without a second name.
static int may_open_anywhere(const struct stat *file, int flags) {
    if (S_ISFIFO(file->st_mode)) return file->st_uid == geteuid();
    if (!S_ISREG(file->st_mode) || (flags & (O_CREAT | O_EXCL)) != O_CREAT) return 1;
    return file->st_uid == geteuid() && file->st_nlink <= 1;
}

// Whether a file that was found in a folder may be opened: not if another user has put it into a folder such as /tmp,
// and in such a folder no regular file with a second name, which may be that of any file.
static int may_open(int folder, const struct stat *file, int flags) {
    struct stat above;
    if (may_open_anywhere(file, flags)) return 1;
    if (fstat(folder, &above) != 0) return 0;
    int has_names = S_ISREG(file->st_mode) && file->st_nlink > 1;
    int is_shared = (above.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    if (!CLinux_is_planted(file->st_uid, above.st_uid, above.st_mode) && !(has_names && is_shared)) return 1;
    errno = EACCES;
    return 0;
}

// Opens the last part of a path. ELOOP for a link, or with O_PATH the link itself.
static int open_last(int folder, const char *name, const struct opening *how) {
    int fd = openat(folder, name, how->flags | O_NOFOLLOW, how->mode);
    struct stat file;
    if (how->flags & O_PATH || (fd < 0 && errno != ENXIO)) return fd;
    if (fd >= 0) return fstat(fd, &file) == 0 && may_open(folder, &file, how->flags) ? fd : close_failed(fd);
    int is_pipe = fstatat(folder, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(file.st_mode);
    // A pipe without a reader.
    if (!is_pipe || may_open(folder, &file, how->flags)) errno = is_pipe ? EAGAIN : ENXIO;
    return -1;
}

// Opens a part of a path that more follows.
static int open_folder_part(int folder, const char *name) {
    int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    // Tried as a folder first, which also triggers automounts.
    int fd = openat(folder, name, flags | O_DIRECTORY);
    return fd >= 0 || errno != ENOTDIR ? fd : openat(folder, name, flags);
}

// Opens what a link of /proc leads to, which its text need not say.
static int open_link_of_proc(int folder, const char *name, int is_last, const struct opening *how) {
    struct opening target = {.flags = O_PATH | O_CLOEXEC};
    if (is_last) target.flags = how->flags & ~(O_CREAT | O_EXCL);
    if (how->follows_magic) return openat(folder, name, target.flags);
    int fd = open_strictly(folder, name, &target, RESOLVE_NO_MAGICLINKS);
    if (fd < 0 && lacks_openat2()) errno = ELOOP;
    return fd;
}

// Removes the first part of the rest of a path and opens it; `folder` is closed. If the part is a link, its target
// replaces it, and the returned folder is where the target starts.
static int walk(int folder, char *rest, int *links, const struct opening *how) {
    char name[NAME_MAX + 1];
    size_t length = strcspn(rest, "/");
    if (length > NAME_MAX) {
        errno = ENAMETOOLONG;
        return close_failed(folder);
    }
    memcpy(name, length == 0 ? "." : rest, length == 0 ? 1 : length);
    name[length == 0 ? 1 : length] = 0;
    memmove(rest, rest + length, strlen(rest + length) + 1);
    // Nothing follows, not even a slash.
    int is_last = *rest == 0;
    int part = is_last ? open_last(folder, name, how) : open_folder_part(folder, name);
    int is_refused = part < 0 && errno == ELOOP;
    if (is_refused) part = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (part < 0) return close_failed(folder);
    if (fstat(part, &status) != 0 || !S_ISLNK(status.st_mode)) {
        close_failed(folder);
        if (is_refused) errno = ELOOP;
        return is_refused ? close_failed(part) : part;
    }
    if (CLinux_is_in_proc(part)) {
        close_failed(part);
        // Not counted: what follows goes on from the target.
        int target = open_link_of_proc(folder, name, is_last, how);
        close_failed(folder);
        return target;
    }
    if (++*links > maximum_links) errno = ELOOP;
    int follows = *links <= maximum_links && may_follow(folder, &status) && insert_target(part, rest) == 0;
    close_failed(part);
    return follows ? folder : close_failed(folder);
}

// Opens a path part by part, so that each symbolic link is checked before it is followed.
static int open_by_parts(const char *path, const struct opening *how) {
    char rest[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof rest) {
        errno = length == 0 ? ENOENT : ENAMETOOLONG;
        return -1;
    }
    memcpy(rest, path, length + 1);
    int links = 0;
    int place = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int is_first = 1;
    while (place >= 0 && *rest != 0) {
        // The target of a link may start at the root again; after a part a slash only separates.
        int before = links;
        if (is_first && *rest == '/') {
            close(place);
            place = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
        size_t slashes = strspn(rest, "/");
        memmove(rest, rest + slashes, strlen(rest + slashes) + 1);
        if (place >= 0) place = walk(place, rest, &links, how);
        is_first = links != before;
    }
    return place;
}

int CLinux_open_path(const char *path) {
    struct opening how = {.flags = O_PATH | O_CLOEXEC};
    int fd = open_strictly(AT_FDCWD, path, &how, RESOLVE_NO_SYMLINKS);
    if (fd >= 0 || (errno != ELOOP && !lacks_openat2())) return fd;
    return open_by_parts(path, &how);
}

// Empties a file if that is wanted; everything but a pipe waits from now on.
static int finish_opening(int fd, int is_emptied) {
    struct stat file;
    if (fstat(fd, &file) != 0) return close_failed(fd);
    if (S_ISFIFO(file.st_mode)) return fd;
    if (is_emptied && S_ISREG(file.st_mode) && ftruncate(fd, 0) != 0) return close_failed(fd);
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ? close_failed(fd) : fd;
}

int CLinux_open_named(const char *path, int flags, unsigned mode) {
    struct opening how = {
        .flags = (flags & ~O_TRUNC) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, .mode = mode, .follows_magic = 1};
    int fd = open_strictly(AT_FDCWD, path, &how, RESOLVE_NO_SYMLINKS);
    if (fd < 0 && errno != ELOOP && errno != ENXIO && !lacks_openat2()) return -1;
    struct stat file;
    if (fd < 0 || fstat(fd, &file) != 0 || !may_open_anywhere(&file, flags)) {
        if (fd >= 0) close(fd);
        fd = open_by_parts(path, &how);
    }
    return fd < 0 ? -1 : finish_opening(fd, flags & O_TRUNC);
}

ssize_t CLinux_read_pipe(int fd, void *bytes, size_t size) {
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    return preadv2(fd, &part, 1, -1, RWF_NOWAIT);
}

ssize_t CLinux_splice_pipe(int fd, void *bytes, size_t size, int spare_read, int spare_write) {
    // Bytes that did not fit the buffer of an earlier call come first.
    ssize_t count = read(spare_read, bytes, size);
    if (count > 0 || (count < 0 && errno != EAGAIN)) return count;
    ssize_t moved = splice(fd, NULL, spare_write, NULL, size, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (moved <= 0) return moved;
    return read(spare_read, bytes, size);
}

ssize_t CLinux_write_pipe(int fd, const void *bytes, size_t size) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    return pwritev2(fd, &part, 1, -1, RWF_NOWAIT);
}

ssize_t CLinux_splice_to_pipe(int spare_read, int fd, size_t size) {
    return splice(spare_read, NULL, fd, NULL, size, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
}

int CLinux_blocking_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int CLinux_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

static int is_open_for(int fd, int not_mode) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return 0;
    errno = EBADF;
    return !(flags & O_PATH) && (flags & O_ACCMODE) != not_mode;
}

int CLinux_is_readable(int fd) { return is_open_for(fd, O_WRONLY); }

int CLinux_is_writable(int fd) { return is_open_for(fd, O_RDONLY); }

int CLinux_replace(int fd, int other) {
    return dup3(other, fd, O_CLOEXEC) < 0 ? -1 : 0;
}

int CLinux_enlarge_pipe(int fd, int bytes) {
    int room = fcntl(fd, F_GETPIPE_SZ);
    return room < 0 || room >= bytes ? room : fcntl(fd, F_SETPIPE_SZ, bytes);
}

int CLinux_is_memory_file(int fd) {
    return fcntl(fd, F_GET_SEALS) >= 0;
}

// Opens one part of a path below a folder, and creates it first if it is missing and that is wanted.
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

// Copies the bytes from an offset on through memory.
static int copy_from_offset(int from, int to, off_t offset, off_t size) {
    char bytes[65536];
    while (offset < size) {
        ssize_t count = pread(from, bytes, sizeof bytes, offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            if (count == 0) errno = EIO;
            return -1;
        }
        for (ssize_t done = 0; done < count;) {
            ssize_t written = pwrite(to, bytes + done, (size_t)(count - done), offset + done);
            if (written < 0 && errno != EINTR) return -1;
            if (written > 0) done += written;
        }
        offset += count;
    }
    return 0;
}

// Takes room for a file that grows. Not every file system can; then the bytes need it when they are written.
static int take_room(int fd, off_t old_size, off_t size) {
    int result;
    do result = fallocate(fd, 0, 0, size);
    while (result != 0 && errno == EINTR);
    if (result == 0 || (errno != ENOSPC && errno != EDQUOT && errno != EFBIG)) return 0;
    int error = errno;
    if (ftruncate(fd, old_size) != 0) return -1;
    errno = error;
    return -1;
}

int CLinux_copy_into(int from, int to) {
    struct stat source, target;
    if (fstat(from, &source) != 0 || fstat(to, &target) != 0) return -1;
    if (source.st_size > target.st_size && take_room(to, target.st_size, source.st_size) != 0) return -1;
    off_t done = 0;
    while (done < source.st_size) {
        off_t in = done, out = done;
        ssize_t count = copy_file_range(from, &in, to, &out, (size_t)(source.st_size - done), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += count;
    }
    if (copy_from_offset(from, to, done, source.st_size) != 0) return -1;
    return ftruncate(to, source.st_size) != 0 || fsync(to) != 0 ? -1 : 0;
}

int CLinux_is_in_proc(int fd) {
    struct statfs status;
    return fstatfs(fd, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

static int is_of_type(int fd, const unsigned long *types, size_t count) {
    struct statfs status;
    if (fstatfs(fd, &status) != 0) return 1;
    for (size_t index = 0; index < count; index++)
        if ((unsigned long)status.f_type == types[index]) return 1;
    return 0;
}

int CLinux_is_of_kernel(int fd) {
    static const unsigned long types[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
        DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, BPF_FS_MAGIC, EFIVARFS_MAGIC,
        PSTOREFS_MAGIC, BINFMTFS_MAGIC, NSFS_MAGIC, RDTGROUP_SUPER_MAGIC, 0x62656570 /* configfs */};
    return is_of_type(fd, types, sizeof types / sizeof *types);
}

int CLinux_is_remote(int fd) {
    static const unsigned long types[] = {
        0x65735546, 0x6969, 0x517B, 0xFF534D42, 0xFE534D42, 0x00C36400, 0x01021997, 0x6B414653};
    return is_of_type(fd, types, sizeof types / sizeof *types);
}
