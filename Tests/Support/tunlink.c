// Joins two network namespaces by a pair of tun devices and forwards packets with a delay: a long link in user space, for
// kernels without netem. Prints "ready" when both devices are up, and runs until SIGTERM. Needs root.
//
//   tunlink NAMESPACE_A DEVICE_A NAMESPACE_B DEVICE_B ONE_WAY_DELAY_MS
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { maximum_packet = 2048, queue_packets = 8192, packets_a_turn = 64 };

struct packet {
    int64_t due;
    ssize_t length;
    unsigned char bytes[maximum_packet];
};

// One direction: what came in at one end waits here until it is due at the other. A full queue drops, as a router's does.
struct direction {
    int from, to;
    unsigned head, tail;
    struct packet *queue;
};

static volatile sig_atomic_t is_stopped;

static void stop(int signal_number) {
    (void)signal_number;
    is_stopped = 1;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void enter_namespace(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "/var/run/netns/%s", name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail(path);
    if (setns(descriptor, CLONE_NEWNET)) fail("setns");
    close(descriptor);
}

// The device stays in the namespace it was made in; the descriptor works from anywhere.
static int make_device(const char *namespace_name, const char *device) {
    enter_namespace(namespace_name);
    int descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) fail("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, IFNAMSIZ, "%s", device);
    if (ioctl(descriptor, TUNSETIFF, &request)) fail("TUNSETIFF");
    int any_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ioctl(any_socket, SIOCGIFFLAGS, &request)) fail("SIOCGIFFLAGS");
    request.ifr_flags |= IFF_UP;
    if (ioctl(any_socket, SIOCSIFFLAGS, &request)) fail("SIOCSIFFLAGS");
    close(any_socket);
    return descriptor;
}

static void take(struct direction *direction, int64_t delay) {
    for (int taken = 0; taken < packets_a_turn; taken++) {
        struct packet *packet = &direction->queue[direction->tail % queue_packets];
        if (direction->tail - direction->head == queue_packets) {
            static unsigned char dropped[maximum_packet];
            if (read(direction->from, dropped, sizeof dropped) <= 0) return;
            continue;
        }
        packet->length = read(direction->from, packet->bytes, maximum_packet);
        if (packet->length <= 0) return;
        packet->due = now_ns() + delay;
        direction->tail++;
    }
}

static void deliver(struct direction *direction) {
    int64_t now = now_ns();
    while (direction->head != direction->tail) {
        struct packet *packet = &direction->queue[direction->head % queue_packets];
        if (packet->due > now) return;
        ssize_t written = write(direction->to, packet->bytes, (size_t)packet->length);
        // Packets to a device that is down (EIO) are lost, as with a cable that was pulled.
        if (written < 0 && errno != EAGAIN && errno != EIO) fail("write");
        direction->head++;
    }
}

// Sets the timer to the packet that is due first; both queues are in order.
static void arm(int timer, const struct direction directions[2]) {
    struct itimerspec when = {0};
    int64_t first = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        if (directions[i].head == directions[i].tail) continue;
        int64_t due = directions[i].queue[directions[i].head % queue_packets].due;
        if (due < first) first = due;
    }
    if (first != INT64_MAX) when.it_value = (struct timespec){first / 1000000000, first % 1000000000};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "tunlink NAMESPACE_A DEVICE_A NAMESPACE_B DEVICE_B ONE_WAY_DELAY_MS\n");
        return 2;
    }
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    // The delay is what is simulated, so it must not depend on how busy the machine is.
    prctl(PR_SET_TIMERSLACK, 1000);
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 10});
    int ends[2] = {make_device(arguments[1], arguments[2]), make_device(arguments[3], arguments[4])};
    struct direction directions[2] = {{.from = ends[0], .to = ends[1]}, {.from = ends[1], .to = ends[0]}};
    for (int i = 0; i < 2; i++) {
        directions[i].queue = calloc(queue_packets, sizeof(struct packet));
        if (!directions[i].queue) fail("calloc");
    }
    int64_t delay = (int64_t)(atof(arguments[5]) * 1e6);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    printf("ready\n");
    fflush(stdout);
    while (!is_stopped) {
        struct pollfd waiting[3] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}, {timer, POLLIN, 0}};
        if (poll(waiting, 3, -1) < 0 && errno != EINTR) fail("poll");
        for (int i = 0; i < 2; i++) {
            take(&directions[i], delay);
            deliver(&directions[i]);
        }
        arm(timer, directions);
    }
    return 0;
}
