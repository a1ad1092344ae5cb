#include "CLinux.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
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
    if (!read_information(fd, &information)) return -1;
    // What was sent again is in both.
    return (int64_t)(information.tcpi_bytes_sent - information.tcpi_bytes_retrans + information.tcpi_notsent_bytes);
}

int64_t CLinux_bytes_acknowledged(int fd) {
    struct tcp_info information;
    return read_information(fd, &information) ? (int64_t)information.tcpi_bytes_acked : -1;
}

int64_t CLinux_bytes_outstanding(int fd) {
    int count = 0, saved = errno;
    int failed = ioctl(fd, SIOCOUTQ, &count);
    errno = saved;
    return failed ? -1 : count;
}
