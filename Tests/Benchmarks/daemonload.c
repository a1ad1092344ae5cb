// Load on a daemon: N connections to its socket, each with one request.perform in flight. Prints one JSON object, in which
// the CPU is the daemon's, read from its process clock.
//
//   daemonload SOCKET PID CONCURRENCY REQUESTS PARAMS_JSON
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

enum { maximum_concurrency = 1024, maximum_line = 65536 };

struct connection {
    int fd;
    int64_t started;
    size_t length;
    char line[maximum_line];
};

static struct connection connections[maximum_concurrency];
static char call[maximum_line];
static size_t call_length;
static long wanted, begun, done;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "daemonload: %s: %s\n", what, why);
    exit(1);
}

static void begin(struct connection *connection) {
    connection->length = 0;
    connection->started = now_ns();
    begun++;
    if (write(connection->fd, call, call_length) != (ssize_t)call_length) fail("write", "short");
}

static void answer(struct connection *connection, int64_t *latencies) {
    ssize_t count =
        read(connection->fd, connection->line + connection->length, maximum_line - 1 - connection->length);
    if (count <= 0) fail("read", "the daemon closed the connection");
    connection->length += (size_t)count;
    if (connection->line[connection->length - 1] != '\n') return;
    connection->line[connection->length] = 0;
    latencies[done++] = now_ns() - connection->started;
    if (!strstr(connection->line, "\"status\":200")) fail("answer", connection->line);
    if (begun < wanted) begin(connection);
}

static void turn(int epoll_fd, int64_t *latencies) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll_fd, events, 64, 10000);
    if (count <= 0) fail("epoll_wait", "nothing for 10 s");
    for (int i = 0; i < count; i++) answer(events[i].data.ptr, latencies);
}

static void open_connection(struct connection *connection, const char *path, int epoll_fd) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("socket path", "too long");
    strcpy(address.sun_path, path);
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof address)) fail("connect", path);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connection->fd, &event);
}

int main(int count, char **arguments) {
    if (count != 6) fail("usage", "daemonload SOCKET PID CONCURRENCY REQUESTS PARAMS_JSON");
    int concurrency = atoi(arguments[3]);
    if (concurrency < 1 || concurrency > maximum_concurrency) fail("concurrency", "out of range");
    wanted = atol(arguments[4]);
    long warm = wanted / 5 + concurrency;
    wanted += warm;
    clockid_t daemon_clock;
    if (clock_getcpuclockid(atoi(arguments[2]), &daemon_clock)) fail("clock_getcpuclockid", arguments[2]);
    call_length = (size_t)snprintf(call, sizeof call,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"request.perform\",\"params\":%s}\n", arguments[5]);
    if (call_length >= sizeof call) fail("params", "too long");
    int64_t *latencies = calloc((size_t)wanted, sizeof *latencies);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < concurrency; i++) {
        open_connection(&connections[i], arguments[1], epoll_fd);
        begin(&connections[i]);
    }
    while (done < warm) turn(epoll_fd, latencies);
    long first = done;
    int64_t wall = now_ns(), cpu = cpu_ns(daemon_clock);
    while (done < wanted) turn(epoll_fd, latencies);
    wall = now_ns() - wall;
    cpu = cpu_ns(daemon_clock) - cpu;
    report(latencies + first, done - first, wall, cpu);
    return 0;
}
