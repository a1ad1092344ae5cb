#include "CLinux.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

// Apart from other files: the C library's tcp.h, whose structure is older, cannot be included beside the kernel's.
static int read_information(int fd, struct tcp_info *information) {
    memset(information, 0, sizeof *information);
    socklen_t length = sizeof *information;
    int saved = errno;
    int failed = getsockopt(fd, IPPROTO_TCP, TCP_INFO, information, &length);
    errno = saved;
    return !failed;
}

int64_t CLinux_bytes_written(int fd) {
    struct tcp_info information;
    // What was sent again counts twice, so that it only seems to be more.
    return read_information(fd, &information)
        ? (int64_t)(information.tcpi_bytes_sent + information.tcpi_notsent_bytes) : -1;
}

int64_t CLinux_bytes_acknowledged(int fd) {
    struct tcp_info information;
    return read_information(fd, &information) ? (int64_t)information.tcpi_bytes_acked : -1;
}
