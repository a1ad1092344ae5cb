#ifndef CARPOOL_CLINUX_H
#define CARPOOL_CLINUX_H

// Functions that Swift's Glibc module does not offer; each declaration says why it is needed.

#include <linux/rtnetlink.h> // not part of the Glibc module
#include <semaphore.h>      // for CLinux_wait_for_semaphore
#include <stdint.h>
#include <sys/epoll.h>      // not part of the Glibc module
#include <sys/sendfile.h>   // not part of the Glibc module
#include <sys/eventfd.h>    // not part of the Glibc module
#include <sys/signalfd.h>   // not part of the Glibc module
#include <sys/types.h>
#include <sys/xattr.h>      // not part of the Glibc module

// accept4 needs _GNU_SOURCE, which clashes with the Glibc module when a header defines it. Returns a non-blocking,
// close-on-exec descriptor, or -1 with errno. Urgent bytes (MSG_OOB) are read in line (SO_OOBINLINE): otherwise the
// next recvmsg(2) would drop them and close the descriptors that came with them.
int CLinux_accept(int listener);

// struct ucred is hidden behind _GNU_SOURCE. Returns the credentials of the peer of a connected Unix socket; 0 or -1
// with errno.
int CLinux_peer_credentials(int fd, uid_t *uid, gid_t *gid, pid_t *pid);

// O_TMPFILE is a macro that Swift cannot import. Opens an unnamed, read-write, close-on-exec file of mode 0600 in a
// directory.
int CLinux_open_unnamed(const char *directory);

// The same in an open folder.
int CLinux_open_unnamed_in(int folder);

// Links an unnamed file to a name in an open folder (linkat with AT_SYMLINK_FOLLOW over /proc/self/fd, or, without
// /proc, with AT_EMPTY_PATH, which needs a privilege); 0 or -1 with errno.
int CLinux_link_unnamed_in(int fd, int folder, const char *name);

// posix_spawn_file_actions_addclosefrom_np needs _GNU_SOURCE. Starts a program in a session of its own, in the
// directory /, with standard input from /dev/null, standard output and error to `log`, and `status` as descriptor 3;
// every other descriptor is closed. Returns its pid, or -1 with errno.
pid_t CLinux_spawn_detached(const char *path, char *const arguments[], char *const environment[], int log, int status);

// `environ` is a global variable, which Swift's concurrency checking refuses. The variables of this process, ended by
// NULL.
char **CLinux_environment(void);

// RUSAGE_THREAD needs _GNU_SOURCE. Returns the number of voluntary context switches of the calling thread
// (getrusage(2), ru_nvcsw).
long CLinux_voluntary_switches(void);

// sched_getcpu needs _GNU_SOURCE. Returns the number of the processor that runs the calling thread, or -1.
int CLinux_processor(void);

// prctl is variadic. Prevents other processes of the same user from reading this one's memory and descriptors, and
// the kernel from writing its memory to a file; 0 or -1 with errno.
int CLinux_forbid_inspection(void);

// struct statx is not imported by Swift. Returns device, inode and mount of a path's target, following links; 0 or -1
// with errno.
int CLinux_identify(const char *path, uint64_t parts[3]);

// SO_PEERPIDFD (Linux 6.5) is newer than some headers. Returns a descriptor of the process that connected a Unix
// socket; -1 with errno, which is ENOPROTOOPT on older kernels.
int CLinux_peer_process(int socket);

// glibc 2.36 declares pidfd_open, but clashes with other headers. A descriptor of a process; -1 with errno.
int CLinux_open_process(pid_t pid);

// Returns whether the process of such a descriptor is running: 1, 0, or -1 with errno.
int CLinux_process_lives(int process);

// A signal handler must not run Swift code. From now on SIGINT, SIGTERM and SIGHUP delete this file before their
// default action; ignored signals stay ignored. 0, or -1 with errno if the path is too long.
int CLinux_unlink_on_termination(const char *path);

// F_GETFD and F_SETFD need a variadic function. Sets or clears close-on-exec; 0 or -1 with errno.
int CLinux_set_close_on_exec(int fd, int enabled);

// splice needs _GNU_SOURCE. Moves bytes from a pipe into a descriptor and waits until that has taken them; returns their
// number, 0 at the end of the pipe, or -1 with errno: EINVAL if the descriptor cannot be spliced into.
ssize_t CLinux_move_from_pipe(int pipe, int fd, size_t size);

// fcntl is variadic. Makes a descriptor non-blocking; 0 or -1 with errno.
int CLinux_set_nonblocking(int fd);

// CMSG_FIRSTHDR and its relatives are macros. Reads once from a Unix socket, without waiting, together with the
// descriptors that were passed (SCM_RIGHTS, unix(7)), close-on-exec: up to `capacity` of them, `count` is how many; any
// more are closed. The kernel drops those for which the process has no number (EMFILE): then the last one here is
// CLINUX_MISSING_DESCRIPTOR. Returns the number of bytes, or -1 with errno.
#define CLINUX_MISSING_DESCRIPTOR (-2)
ssize_t CLinux_receive(int fd, void *bytes, size_t size, int *descriptors, int capacity, int *count);

// recvmsg with MSG_PEEK. Copies the received bytes of a Unix socket, without waiting and at most to the end of the
// first message with descriptors (SCM_RIGHTS, unix(7)), and sets whether there is such a message; they stay with it.
// Returns the number of bytes, or -1 with errno.
ssize_t CLinux_peek(int fd, void *bytes, size_t size, int *has_descriptors);

// WIFEXITED and its relatives are function-like macros. Returns the exit code of a wait status, or 128 and the
// signal's number.
int CLinux_exit_code(int status);

// O_PATH needs _GNU_SOURCE. Opens a folder by its absolute path, part by part, without following a symbolic link
// (ENOTDIR); creates missing parts with this mode if that is wanted. Returns a descriptor for the calls that take a
// folder's, or -1 with errno.
int CLinux_open_folder(const char *path, int makes_missing, unsigned mode);

// renameat2 needs _GNU_SOURCE. Renames a file from one open folder to another; unless it may replace, only if the new
// name is free, also on file systems where only a link can do that. 0, or -1 with errno.
int CLinux_rename_between(int from_folder, const char *from, int to_folder, const char *to, int replaces);

// copy_file_range and fallocate need _GNU_SOURCE. Writes the bytes of one file into another one, which has no others
// afterwards, and flushes them to the disk. Room for them is taken first, where the file system can, so that a full disk
// leaves the old bytes. 0, or -1 with errno.
int CLinux_copy_into(int from, int to);

// The most descriptors of one message: as many as the daemon takes.
#define CLINUX_MOST_DESCRIPTORS 16

// CMSG_SPACE and its relatives are macros. Sends bytes with descriptors (SCM_RIGHTS, unix(7)), without SIGPIPE and
// without waiting; the peer receives them with the first byte. Returns the number of bytes, or -1 with errno.
ssize_t CLinux_send_with_descriptors(int fd, const void *bytes, size_t count, const int *passed, int passed_count);

// struct statfs is not imported by Swift. Returns whether a descriptor leads into /proc.
int CLinux_is_in_proc(int fd);

// Whether a file belongs to a file system with which the kernel is controlled, such as /proc and /sys.
int CLinux_is_of_kernel(int fd);

// struct statfs and the magic numbers are not imported. Whether a file belongs to a file system that another machine or
// process answers for: FUSE, NFS, SMB, Ceph, 9P, AFS.
int CLinux_is_remote(int fd);

// One rule for C and Swift. Whether a file or a symbolic link was planted: put by another user into a folder that all
// users may change and whose sticky bit protects their files, such as /tmp. It belongs neither to this user nor to the
// owner of the folder. As with fs.protected_symlinks and its relatives (proc(5)), whatever their values are.
int CLinux_is_planted(uid_t owner, uid_t folder_owner, unsigned folder_mode);

// openat2 has no function in the C library. Opens a path with O_PATH and close-on-exec, without following the magic
// links of /proc, which would mean this process's own files (RESOLVE_NO_MAGICLINKS), and planted links. On kernels
// without openat2, and where a filter forbids it, no link of /proc is followed. -1 with errno: ELOOP for a link of
// /proc, EACCES for a planted one.
int CLinux_open_path(const char *path);

// The same. Opens a path that the user of this process has named, as open(2) does, close-on-exec, but follows no
// planted link, and opens no planted pipe and with O_CREAT no planted regular file (EACCES); nor, in such a folder, one
// that has a second name. Never waits for the other end of a pipe: EAGAIN if it is to be written and has no reader. A
// pipe stays non-blocking.
int CLinux_open_named(const char *path, int flags, unsigned mode);

// preadv2 needs _GNU_SOURCE. Reads from a pipe without waiting for bytes, whatever its mode, which its other users
// share; waits for its lock, which another process may hold for long. Returns the number of bytes, 0 at the end, or
// -1 with errno: EAGAIN if there are none now, EOPNOTSUPP on kernels without it (before Linux 6.4).
ssize_t CLinux_read_pipe(int fd, void *bytes, size_t size);

// splice needs _GNU_SOURCE. The same on every kernel: the bytes go through a private pipe, passed as its two
// non-blocking ends.
ssize_t CLinux_splice_pipe(int fd, void *bytes, size_t size, int spare_read, int spare_write);

// pwritev2 needs _GNU_SOURCE. Writes to a pipe without waiting for room, whatever its mode, which its other users share;
// waits for its lock, which another process may hold for long. Returns the number of bytes, or -1 with errno: EAGAIN if
// there is no room now, EOPNOTSUPP on kernels without it (before Linux 6.4).
ssize_t CLinux_write_pipe(int fd, const void *bytes, size_t size);

// splice needs _GNU_SOURCE. Moves bytes from the reading end of a private pipe to a pipe without waiting for room; on
// every kernel. -1 with errno.
ssize_t CLinux_splice_to_pipe(int spare_read, int fd, size_t size);

// pipe2 needs _GNU_SOURCE. A pipe whose ends do not block; 0 or -1 with errno.
int CLinux_pipe(int ends[2]);

// pipe2 needs _GNU_SOURCE. The same, with ends that block.
int CLinux_blocking_pipe(int ends[2]);

// F_GETPIPE_SZ and F_SETPIPE_SZ need _GNU_SOURCE and fcntl is variadic. Gives a pipe room for so many bytes, unless it
// has as much; returns its room, or -1.
int CLinux_enlarge_pipe(int fd, int bytes);

// F_GET_SEALS needs _GNU_SOURCE and fcntl is variadic. Returns whether a descriptor is a file in memory
// (memfd_create(2)), which never blocks.
int CLinux_is_memory_file(int fd);

// O_PATH needs _GNU_SOURCE and fcntl is variadic. Returns whether a descriptor can be read: opened for reading, and
// not with O_PATH. If not, errno is EBADF, or says why that is not known.
int CLinux_is_readable(int fd);

// The same for writing.
int CLinux_is_writable(int fd);

// dup3 needs _GNU_SOURCE. Makes a descriptor, close-on-exec, refer to the file of another one; 0 or -1 with errno.
int CLinux_replace(int fd, int other);

// memfd_create needs _GNU_SOURCE, and the seals are set by a variadic function. Returns a sealed file in memory with
// these bytes, to be read from its beginning; -1 with errno.
int CLinux_sealed_file(const void *bytes, size_t count);

// struct sockaddr_nl and SOL_NETLINK are not imported by Swift. Returns an rtnetlink(7) socket, close-on-exec,
// non-blocking and bound; requests a receive buffer of this size if it is above 0. -1 with errno.
int CLinux_netlink_open(int receive_buffer);

// The same. Adds the socket to one of the groups RTNLGRP_*; 0 or -1 with errno.
int CLinux_netlink_join(int fd, unsigned group);

// The sender is in struct sockaddr_nl. Reads one datagram, without waiting, and ignores those that are not the
// kernel's; -1 with errno, which is EMSGSIZE if it was larger than the buffer.
ssize_t CLinux_netlink_receive(int fd, void *bytes, size_t size);

// ioctl is variadic. Queries the driver of an interface for its link (ETHTOOL_GLINK), upon which the kernel sends the
// notifications that it has delayed so far. 1, 0, or -1 with errno.
int CLinux_link_detected(const char *name);

// Starts resolving a name with the C library (getaddrinfo(3)), on a thread of its own; when that is done, the returned
// address is written to the pipe, as the bytes of a pointer. NULL with errno.
void *CLinux_resolve(const char *name, int pipe);

// Returns the result of a look-up, up to `capacity` addresses: the length of each, 4 or 16, and its bytes, 16 for each.
// Frees the look-up, and returns the number of addresses, or a negative EAI_* of getaddrinfo(3).
int CLinux_resolve_take(void *lookup, uint8_t *lengths, uint8_t *bytes, int capacity);

// pthread_setname_np needs _GNU_SOURCE. Starts a detached thread with a name of at most 15 bytes and all signals
// blocked; it runs `body(context)` and ends. 0, or the error number of pthread_create(3).
int CLinux_start_thread(const char *name, void (*body)(void *context), void *context);

// sem_clockwait needs _GNU_SOURCE. Decrements a semaphore when it is above 0, and waits for that until this time of the
// monotonic clock; 0, or -1 with errno: ETIMEDOUT.
int CLinux_wait_for_semaphore(sem_t *semaphore, uint64_t nanoseconds);

// mallopt is not part of the Glibc module. From now on allocations of this size and above are returned to the system
// as soon as they are freed. 0 if the allocator refuses.
int CLinux_return_large_memory(int bytes);

// malloc_trim and mallinfo2 are not part of the Glibc module. Returns free memory to the system if the allocator
// holds more than this much of it.
void CLinux_trim_memory(size_t kept);

// Returns free memory at the end of the calling thread's heap to the system, if there is more of it than
// CLinux_return_large_memory said. malloc_trim leaves the ends of all heaps but the first.
void CLinux_trim_heap_of_thread(void);

// The arguments of the program, with its name, as it was started; null behind the last one. Swift reads them from /proc,
// which is not everywhere.
int CLinux_argument_count(void);
char **CLinux_arguments(void);

// The path by which the program was started; null if the kernel does not say.
const char *CLinux_started_path(void);

// Overwrites a value with blanks in the kernel's copy of the process's arguments: where it is an argument, or the end of
// one that begins with a hyphen. CLinux_arguments has another copy from then on.
void CLinux_hide_argument(const char *value);

// From now on recv(2) of the calling thread fails with EAGAIN this many microseconds after its next call; 0: never.
// Peeking is not limited.
void CLinux_limit_receiving(int64_t microseconds);

// From now on send(2) of the calling thread fails with EAGAIN for this descriptor; -1: for none.
void CLinux_hold_sending(int fd);

// The bytes that were written to a TCP connection (TCP_INFO); -1 if that is not known.
int64_t CLinux_bytes_written(int fd);

// The bytes of a TCP connection that its peer has acknowledged (TCP_INFO); -1 if that is not known.
int64_t CLinux_bytes_acknowledged(int fd);

// The bytes that were written to a TCP connection and that its peer has not acknowledged (SIOCOUTQ); -1 if that is not known.
int64_t CLinux_bytes_outstanding(int fd);

// The shortages that were noted, and the errno of the last one. In C, where a global variable needs no check of whether
// it is initialized: each turn of the loop reads the number.
extern long CLinux_shortages;
extern int CLinux_last_shortage;

static inline long CLinux_shortage_count(void) { return __atomic_load_n(&CLinux_shortages, __ATOMIC_RELAXED); }

static inline int CLinux_shortage_code(void) { return __atomic_load_n(&CLinux_last_shortage, __ATOMIC_RELAXED); }

static inline void CLinux_note_shortage(int code) {
    __atomic_store_n(&CLinux_last_shortage, code, __ATOMIC_RELAXED);
    __atomic_fetch_add(&CLinux_shortages, 1, __ATOMIC_RELAXED);
}

#endif
