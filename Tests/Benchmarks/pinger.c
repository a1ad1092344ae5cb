// Latency of small calls under load: a daemon's ping and that of an echo server, in turns. Delays by the machine affect
// both alike, so that the difference is the daemon's own.
//
//   pinger echo SOCKET                       serves: answers each line with one, until it is ended
//   pinger ping DAEMON ECHO SECONDS GAP_US   prints one JSON object with the latencies of both, in microseconds
//   pinger call DAEMON SECONDS GAP_US PARAMS calls request.perform with these parameters for this long, or until standard input ends
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

enum { most_samples = 1 << 20, most_bytes = 1 << 16 };

struct samples {
    long count;
    int64_t ns[most_samples];
};

static struct samples daemon_samples, echo_samples;
static char line[most_bytes];

static void fail(const char *what, const char *why) {
    fprintf(stderr, "pinger: %s: %s\n", what, why);
    exit(1);
}

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("socket path", "too long");
    strcpy(address.sun_path, path);
    return address;
}

static int connected(const char *path) {
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect", path);
    return fd;
}

static void serve(const char *path) {
    struct sockaddr_un address = address_of(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 8)) fail("bind", path);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event);
    static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"pong\":true}}\n";
    for (;;) {
        if (epoll_wait(epoll_fd, &event, 1, -1) <= 0) continue;
        if (event.data.fd == listener) {
            struct epoll_event client = {.events = EPOLLIN, .data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)};
            epoll_ctl(epoll_fd, EPOLL_CTL_ADD, client.data.fd, &client);
            continue;
        }
        ssize_t count = read(event.data.fd, line, sizeof line);
        if (count <= 0) close(event.data.fd);
        else if (line[count - 1] == '\n' && write(event.data.fd, answer, sizeof answer - 1) < 0) close(event.data.fd);
    }
}

// One call and its answer, which may come in pieces.
static void ask(int fd, const char *call, size_t size, struct samples *samples, const char *wanted) {
    int64_t began = now_ns();
    if (write(fd, call, size) != (ssize_t)size) fail("write", "short");
    size_t length = 0;
    do {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, 120000) <= 0) fail("answer", "nothing for 120 s");
        ssize_t count = read(fd, line + length, sizeof line - 1 - length);
        if (count <= 0) fail("read", "closed");
        length += (size_t)count;
    } while (line[length - 1] != '\n');
    line[length] = 0;
    if (!strstr(line, wanted)) fail("answer", line);
    if (samples->count < most_samples) samples->ns[samples->count++] = now_ns() - began;
}

static void print_samples(const char *name, struct samples *samples, const char *end) {
    long count = samples->count;
    if (count == 0) fail(name, "no answer");
    qsort(samples->ns, (size_t)count, sizeof *samples->ns, by_value);
    printf("\"%s\":{\"count\":%ld,\"p50_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f,\"worst_us\":%.1f}%s", name, count,
        samples->ns[count / 2] / 1e3, samples->ns[count * 99 / 100] / 1e3, samples->ns[count * 999 / 1000] / 1e3,
        samples->ns[count - 1] / 1e3, end);
}

static void ping(const char *daemon, const char *echo, double seconds, useconds_t gap) {
    static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}\n";
    int daemon_fd = connected(daemon), echo_fd = connected(echo);
    int64_t end = now_ns() + (int64_t)(seconds * 1e9);
    while (now_ns() < end) {
        ask(daemon_fd, call, sizeof call - 1, &daemon_samples, "\"result\"");
        usleep(gap);
        ask(echo_fd, call, sizeof call - 1, &echo_samples, "\"result\"");
        usleep(gap);
    }
    printf("{");
    print_samples("daemon", &daemon_samples, ",");
    print_samples("echo", &echo_samples, "}\n");
}

static void call(const char *daemon, double seconds, useconds_t gap, const char *params) {
    static char message[most_bytes];
    int size = snprintf(message, sizeof message, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"request.perform\",\"params\":%s}\n", params);
    int fd = connected(daemon);
    int64_t end = now_ns() + (int64_t)(seconds * 1e9);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (now_ns() < end && poll(&input, 1, 0) == 0) {
        ask(fd, message, (size_t)size, &daemon_samples, "\"status\":200");
        usleep(gap);
    }
    printf("{");
    print_samples("daemon", &daemon_samples, "}\n");
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "echo")) serve(arguments[2]);
    else if (count == 6 && !strcmp(arguments[1], "ping")) ping(arguments[2], arguments[3], atof(arguments[4]), (useconds_t)atoi(arguments[5]));
    else if (count == 6 && !strcmp(arguments[1], "call")) call(arguments[2], atof(arguments[3]), (useconds_t)atoi(arguments[4]), arguments[5]);
    else fail("usage", "see the head of pinger.c");
    return 0;
}
