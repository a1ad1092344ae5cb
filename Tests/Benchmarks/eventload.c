// Load on a daemon whose events are followed: requests from some connections, and others that subscribe to everything. Prints one
// JSON object: the daemon's CPU, what the subscribers have read, and how long after the end of a request they read of it, in
// microseconds from the time in the event itself.
//
//   eventload SOCKET PID RATE REQUESTS SUBSCRIBERS STOPPED PARAMS_JSON
//
// RATE is in requests a second; 0 means as many as come with 64 in flight. STOPPED of the subscribers do not read until the end.
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

enum { maximum_connections = 1024, maximum_line = 262144, in_flight = 64 };

struct connection {
    int fd;
    bool subscribes;
    size_t length;
    char *line;
};

static struct connection connections[maximum_connections];
static int connection_count;
static const char *params;
static long wanted, begun, done, finishes, events, lagged;
static int64_t *delays;
static size_t delay_room;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "eventload: %s: %s\n", what, why);
    exit(1);
}

static struct connection *open_connection(const char *path, int epoll_fd) {
    struct connection *connection = &connections[connection_count++];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("socket path", "too long");
    strcpy(address.sun_path, path);
    connection->line = malloc(maximum_line);
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof address)) fail("connect", path);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connection->fd, &event);
    return connection;
}

static void begin(struct connection *connection) {
    static char call[65536];
    int length = snprintf(call, sizeof call,
        "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"request.perform\",\"params\":%s}\n", ++begun, params);
    if (write(connection->fd, call, (size_t)length) != (ssize_t)length) fail("write", "short");
}

static void note_event(const char *line, size_t length, const struct timespec *now) {
    events++;
    const char *type = memmem(line, length < 300 ? length : 300, "\"type\":\"", 8);
    if (!type) return;
    if (!strncmp(type + 8, "lagged\"", 7)) lagged++;
    if (strncmp(type + 8, "request.did_finish\"", 19)) return;
    // "time":"2026-09-30T10:00:00.123456Z" stands right before the type.
    const char *time = type - 29;
    long hour = atol(time + 11), minute = atol(time + 14), second = atol(time + 17), micro = atol(time + 20);
    int64_t then = ((hour * 60 + minute) * 60 + second) * 1000000LL + micro;
    int64_t today = (now->tv_sec % 86400) * 1000000LL + now->tv_nsec / 1000;
    if ((size_t)finishes < delay_room) delays[finishes++] = (today - then) * 1000;
}

static void read_lines(struct connection *connection, bool is_restless) {
    ssize_t count = read(connection->fd, connection->line + connection->length, maximum_line - connection->length);
    if (count <= 0) fail("read", "the daemon closed the connection");
    connection->length += (size_t)count;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char *start = connection->line, *end = start + connection->length, *stop;
    while ((stop = memchr(start, '\n', (size_t)(end - start)))) {
        if (connection->subscribes) {
            note_event(start, (size_t)(stop - start), &now);
        } else {
            done++;
            if (is_restless && begun < wanted) begin(connection);
        }
        start = stop + 1;
    }
    connection->length = (size_t)(end - start);
    memmove(connection->line, start, connection->length);
}

static void turn(int epoll_fd, int timeout, bool is_restless) {
    struct epoll_event ready[64];
    int count = epoll_wait(epoll_fd, ready, 64, timeout);
    if (count == 0 && timeout >= 10000) fail("epoll_wait", "nothing for 10 s");
    for (int i = 0; i < count; i++) read_lines(ready[i].data.ptr, is_restless);
}

static void subscribe(struct connection *connection) {
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"events.subscribe\",\"params\":{\"types\":[\"*\"],\"scope\":\"all\"}}\n";
    if (write(connection->fd, line, sizeof line - 1) != sizeof line - 1) fail("write", "short");
    char answer[4096];
    if (read(connection->fd, answer, sizeof answer) <= 0) fail("subscribe", "no answer");
    connection->subscribes = true;
}

static void run(int epoll_fd, long count, long rate) {
    wanted = begun + count;
    if (rate == 0) {
        for (int i = 0; i < in_flight; i++) begin(&connections[i]);
        while (done < wanted) turn(epoll_fd, 10000, true);
        return;
    }
    int64_t start = now_ns();
    long first = begun;
    while (done < wanted) {
        int64_t due = start + (begun - first) * 1000000000LL / rate, now = now_ns();
        if (begun < wanted && now >= due) begin(&connections[begun % in_flight]);
        turn(epoll_fd, begun < wanted && now < due ? (int)((due - now) / 1000000) : begun < wanted ? 0 : 10000, false);
    }
}

int main(int count, char **arguments) {
    if (count != 8) fail("usage", "eventload SOCKET PID RATE REQUESTS SUBSCRIBERS STOPPED PARAMS_JSON");
    long rate = atol(arguments[3]), requests = atol(arguments[4]);
    int subscribers = atoi(arguments[5]), stopped = atoi(arguments[6]);
    if (subscribers > maximum_connections - in_flight || stopped > subscribers) fail("subscribers", "too many");
    clockid_t daemon_clock;
    if (clock_getcpuclockid(atoi(arguments[2]), &daemon_clock)) fail("clock_getcpuclockid", arguments[2]);
    params = arguments[7];
    if (strlen(params) > 60000) fail("params", "too long");
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < in_flight; i++) open_connection(arguments[1], epoll_fd);
    run(epoll_fd, requests / 5 + in_flight, 0);
    for (int i = 0; i < subscribers; i++) subscribe(open_connection(arguments[1], epoll_fd));
    for (int i = 0; i < stopped; i++) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, connections[in_flight + i].fd, 0);
    delay_room = (size_t)(requests + 1) * (size_t)(subscribers + 1);
    delays = calloc(delay_room, sizeof *delays);
    int64_t cpu = cpu_ns(daemon_clock), wall = now_ns();
    run(epoll_fd, requests, rate);
    cpu = cpu_ns(daemon_clock) - cpu;
    wall = now_ns() - wall;
    while ((size_t)finishes < (size_t)requests * (size_t)(subscribers - stopped)) turn(epoll_fd, 10000, false);
    struct epoll_event event = {.events = EPOLLIN};
    for (int i = 0; i < stopped; i++) {
        event.data.ptr = &connections[in_flight + i];
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connections[in_flight + i].fd, &event);
    }
    while (stopped && !lagged) turn(epoll_fd, 10000, false);
    fprintf(stderr, "%ld events, %ld lagged\n", events, lagged);
    if (finishes == 0) delays[finishes++] = 0;
    report(delays, finishes, wall, cpu * finishes / requests);
    return 0;
}
