#ifndef CARPOOL_CLINUX_H
#define CARPOOL_CLINUX_H

// Only what Swift's Glibc module does not offer; each declaration says why it is here.

#include <linux/rtnetlink.h> // not part of the Glibc module
#include <stdint.h>
#include <sys/epoll.h>      // not part of the Glibc module
#include <sys/sendfile.h>   // not part of the Glibc module
#include <sys/eventfd.h>    // not part of the Glibc module
#include <sys/signalfd.h>   // not part of the Glibc module
#include <sys/types.h>

// accept4 needs _GNU_SOURCE, which clashes with the Glibc module when a header defines it.
// Returns a non-blocking, close-on-exec descriptor, or -1 with errno. Urgent bytes (MSG_OOB) are read in line (SO_OOBINLINE): the next
// recvmsg(2) would else drop them and close the descriptors that came with them.
int CLinux_accept(int listener);

// struct ucred is hidden behind _GNU_SOURCE. Fills the credentials of the peer of a connected Unix socket; 0 or -1 with errno.
int CLinux_peer_credentials(int fd, uid_t *uid, gid_t *gid, pid_t *pid);

// O_TMPFILE is a macro that Swift cannot import. Opens an unnamed, read-write, close-on-exec file of mode 0600 in a directory.
int CLinux_open_unnamed(const char *directory);

// Gives an unnamed file its name (linkat with AT_SYMLINK_FOLLOW over /proc/self/fd); 0 or -1 with errno.
int CLinux_link_unnamed(int fd, const char *path);

// posix_spawn_file_actions_addclosefrom_np needs _GNU_SOURCE. Starts a program in a session of its own, in the directory /,
// with standard input from /dev/null, standard output and error to `log`, and `status` as descriptor 3; every other descriptor is
// closed. Returns its pid, or -1 with errno.
pid_t CLinux_spawn_detached(const char *path, char *const arguments[], char *const environment[], int log, int status);

// `environ` is a global variable, which Swift's concurrency checking refuses. The variables of this process, ended by NULL.
char **CLinux_environment(void);

// RUSAGE_THREAD needs _GNU_SOURCE. How often the calling thread has given its processor up by itself, to wait for something (getrusage(2),
// ru_nvcsw).
long CLinux_voluntary_switches(void);

// prctl is variadic. Forbids other processes of the same user to look into this one's memory and descriptors, and the kernel to write
// its memory to a file; 0 or -1 with errno.
int CLinux_forbid_inspection(void);

// struct statx does not reach Swift. Device, inode and mount of what a path leads to, links followed; 0 or -1 with errno.
int CLinux_identify(const char *path, uint64_t parts[3]);

// SO_PEERPIDFD (Linux 6.5) is newer than some headers. A descriptor of the process that connected a Unix socket; -1 with errno, which is
// ENOPROTOOPT if the kernel does not know this.
int CLinux_peer_process(int socket);

// glibc 2.36 declares pidfd_open, but clashes with other headers. A descriptor of a process; -1 with errno.
int CLinux_open_process(pid_t pid);

// Whether the process of such a descriptor has not ended: 1, 0, or -1 with errno.
int CLinux_process_lives(int process);

// A signal handler may touch nothing of Swift's. From now on SIGINT, SIGTERM and SIGHUP delete this file before they do what they
// always do; signals that are ignored stay ignored. 0, or -1 with errno if the path is too long.
int CLinux_unlink_on_termination(const char *path);

// F_GETFD, F_SETFD and friends go through a variadic function. Sets or clears close-on-exec; 0 or -1 with errno.
int CLinux_set_close_on_exec(int fd, int enabled);

// fcntl is variadic. Makes a descriptor non-blocking; 0 or -1 with errno.
int CLinux_set_nonblocking(int fd);

// CMSG_FIRSTHDR and friends are macros. Reads once from a Unix socket, without waiting, and with it the descriptors that came along
// (SCM_RIGHTS, unix(7)), close-on-exec: up to `room` of them, `count` is how many; any more are closed. The bytes, or -1 with errno.
ssize_t CLinux_receive(int fd, void *bytes, size_t size, int *descriptors, int room, int *count);

// recvmsg with MSG_PEEK. Copies what has come to a Unix socket, without waiting and at most to the end of the first message that descriptors
// were sent with (SCM_RIGHTS, unix(7)), and says whether there is such a message; they stay with it. How many bytes were copied, or -1 with
// errno.
ssize_t CLinux_peek(int fd, void *bytes, size_t size, int *has_descriptors);

// WIFEXITED and friends are function-like macros. The exit code of a wait status, or 128 and the signal's number.
int CLinux_exit_code(int status);

// O_PATH needs _GNU_SOURCE. Opens a folder by its absolute path, part by part, without following a symbolic link (ENOTDIR); makes the parts
// that are missing with this mode if that is asked for. A descriptor for the calls that take one of a folder, or -1 with errno.
int CLinux_open_folder(const char *path, int makes_missing, unsigned mode);

// renameat2 needs _GNU_SOURCE. Renames a file from one open folder to another; unless it may replace, only if the new name is free, also on
// file systems where only a link can do that. 0, or -1 with errno.
int CLinux_rename_between(int from_folder, const char *from, int to_folder, const char *to, int replaces);

// CMSG_SPACE and friends are macros. Sends bytes with one descriptor (SCM_RIGHTS, unix(7)), without SIGPIPE and without waiting; the
// peer gets it with the first of them. How many were sent, or -1 with errno.
ssize_t CLinux_send_with_descriptor(int fd, const void *bytes, size_t count, int passed);

// struct statfs does not reach Swift. Whether a descriptor leads into /proc.
int CLinux_is_in_proc(int fd);

// openat2 has no function in the C library. Opens a path with O_PATH and close-on-exec, without following the magic links of /proc, which
// would mean this process's own files (RESOLVE_NO_MAGICLINKS). On kernels without it, and where a filter forbids it, the path is walked part by part, and no link of /proc is
// followed. -1 with errno: ELOOP for such a link.
int CLinux_open_path(const char *path);

// preadv2 needs _GNU_SOURCE. Reads from a pipe without waiting for bytes, whatever its mode, which its other users share; waits for its
// lock, which another process may hold for long. The bytes, 0 at the end, or -1 with errno: EAGAIN if there are none now, EOPNOTSUPP on kernels
// that cannot do so (before Linux 6.4).
ssize_t CLinux_read_pipe(int fd, void *bytes, size_t size);

// splice needs _GNU_SOURCE. The same on every kernel: the bytes go through a pipe of one's own, given by its two ends, which do not block.
ssize_t CLinux_splice_pipe(int fd, void *bytes, size_t size, int spare_read, int spare_write);

// pipe2 needs _GNU_SOURCE. A pipe whose ends do not block; 0 or -1 with errno.
int CLinux_pipe(int ends[2]);

// F_GET_SEALS needs _GNU_SOURCE and fcntl is variadic. Whether a descriptor is a file in memory (memfd_create(2)), which never waits.
int CLinux_is_memory_file(int fd);

// O_PATH needs _GNU_SOURCE and fcntl is variadic. Whether a descriptor may be read: opened for reading, and not as a mere place (O_PATH).
int CLinux_is_readable(int fd);

// memfd_create needs _GNU_SOURCE, and the seals are set by a variadic function. A file in memory that holds these bytes and that nobody
// can change any more, to be read from its beginning; -1 with errno.
int CLinux_sealed_file(const void *bytes, size_t count);

// struct sockaddr_nl and SOL_NETLINK do not reach Swift. A socket that speaks rtnetlink(7), close-on-exec, non-blocking and bound; asks for
// so large a receive buffer if the size is above 0. -1 with errno.
int CLinux_netlink_open(int receive_buffer);

// The same. Has the socket hear one of the groups RTNLGRP_*; 0 or -1 with errno.
int CLinux_netlink_join(int fd, unsigned group);

// The sender stands in struct sockaddr_nl. Reads one datagram, without waiting, and passes over those that are not the kernel's; -1 with
// errno, which is EMSGSIZE if it was larger than the room.
ssize_t CLinux_netlink_receive(int fd, void *bytes, size_t size);

// ioctl is variadic. Asks the driver of an interface whether there is a link (ETHTOOL_GLINK), upon which the kernel tells everybody what it
// has held back so far. 1, 0, or -1 with errno.
int CLinux_link_detected(const char *name);

// getaddrinfo_a needs _GNU_SOURCE. Begins to look up a name with the C library, on a thread of the library's; when that is done, the address
// of what it gave back here comes through the pipe, as so many bytes as a pointer has. NULL with errno.
void *CLinux_resolve(const char *name, int pipe);

// Takes what a look-up has found, up to `room` addresses: the length of each, 4 or 16, and its bytes, 16 for each. Frees the look-up, and
// returns how many there are, or a negative EAI_* of getaddrinfo(3).
int CLinux_resolve_take(void *lookup, uint8_t *lengths, uint8_t *bytes, int room);

// pthread_setname_np needs _GNU_SOURCE. Starts a detached thread with a name of at most 15 bytes and all signals blocked; it runs
// `body(context)` and ends. 0, or the error number of pthread_create(3).
int CLinux_start_thread(const char *name, void (*body)(void *context), void *context);

// mallopt is not part of the Glibc module. From now on memory of so many bytes and more goes back to the system as soon as it is freed. 0 if
// the allocator refuses.
int CLinux_return_large_memory(int bytes);

// malloc_trim and mallinfo2 are not part of the Glibc module. Gives free memory back to the system if the allocator holds more than so much of it.
void CLinux_give_back_memory(size_t kept);

// From now on recv(2) of the calling thread fails with EAGAIN so many microseconds after its next call; 0: never. Peeking goes on.
void CLinux_limit_receiving(int64_t microseconds);

#endif
