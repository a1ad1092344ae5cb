// Joins two network namespaces by a pair of tun (or tap) devices and forwards packets with a one-way delay, loss, rate and
// queue limit: a slow link in user space, for kernels without netem. Prints "ready" and runs until SIGTERM.
//
//   tunlink nsA devA nsB devB delay_ms [loss_pct] [rate_mbit] [tap] [seed]
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
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#define QN 8192
#define MTU 2048
typedef struct {
  int64_t due;
  int len;
  unsigned char d[MTU];
} pkt;
typedef struct {
  pkt *q;
  unsigned h, t;
  int out;
  int64_t busy;
  unsigned long in, drop, fwd;
} dir_t;
static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void die(const char *s) {
  perror(s);
  exit(1);
}
static int mk(const char *ns, const char *dev, int tap) {
  char p[256];
  snprintf(p, sizeof p, "/var/run/netns/%s", ns);
  int n = open(p, O_RDONLY | O_CLOEXEC);
  if (n < 0)
    die(p);
  if (setns(n, CLONE_NEWNET))
    die("setns");
  close(n);
  int f = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (f < 0)
    die("/dev/net/tun");
  struct ifreq r = {0};
  snprintf(r.ifr_name, IFNAMSIZ, "%s", dev);
  r.ifr_flags = (tap ? IFF_TAP : IFF_TUN) | IFF_NO_PI;
  if (ioctl(f, TUNSETIFF, &r))
    die("TUNSETIFF");
  int s = socket(2, 2, 0);
  memset(&r, 0, sizeof r);
  snprintf(r.ifr_name, IFNAMSIZ, "%s", dev);
  ioctl(s, SIOCGIFFLAGS, &r);
  r.ifr_flags |= IFF_UP;
  if (ioctl(s, SIOCSIFFLAGS, &r))
    die("up");
  memset(&r, 0, sizeof r);
  snprintf(r.ifr_name, IFNAMSIZ, "%s", dev);
  r.ifr_qlen = 1000;
  ioctl(s, SIOCSIFTXQLEN, &r);
  close(s);
  return f;
}
static volatile int stop;
static void onsig(int x) {
  (void)x;
  stop = 1;
}
int main(int c, char **v) {
  if (c < 6) {
    fprintf(stderr, "usage\n");
    return 2;
  }
  double delay = atof(v[5]) * 1e6, loss = c > 6 ? atof(v[6]) / 100 : 0, rate = c > 7 ? atof(v[7]) * 1e6 : 0;
  int tap = c > 8 && !strcmp(v[8], "tap");
  srand48(c > 9 ? atol(v[9]) : 1);
  signal(SIGTERM, onsig);
  signal(SIGINT, onsig);
  prctl(PR_SET_TIMERSLACK, 1000);
  struct sched_param sp = {.sched_priority = 10};
  sched_setscheduler(0, SCHED_RR, &sp);
  int fa = mk(v[1], v[2], tap), fb = mk(v[3], v[4], tap), tf = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  dir_t D[2] = {{.out = fb}, {.out = fa}};
  int in[2] = {fa, fb};
  for (int i = 0; i < 2; i++)
    D[i].q = malloc(sizeof(pkt) * QN);
  printf("ready\n");
  fflush(stdout);
  while (!stop) {
    int64_t nx = 0;
    for (int i = 0; i < 2; i++)
      if (D[i].h != D[i].t) {
        int64_t d = D[i].q[D[i].h % QN].due;
        if (!nx || d < nx)
          nx = d;
      }
    struct itimerspec it = {0};
    if (nx) {
      it.it_value.tv_sec = nx / 1000000000LL;
      it.it_value.tv_nsec = nx % 1000000000LL;
      if (!it.it_value.tv_sec && !it.it_value.tv_nsec)
        it.it_value.tv_nsec = 1;
    }
    timerfd_settime(tf, TFD_TIMER_ABSTIME, &it, 0);
    struct pollfd p[3] = {{fa, POLLIN, 0}, {fb, POLLIN, 0}, {tf, POLLIN, 0}};
    if (poll(p, 3, 1000) < 0 && errno != EINTR)
      die("poll");
    for (int i = 0; i < 2; i++)
      if (p[i].revents & POLLIN)
        for (int k = 0; k < 64; k++) {
          static unsigned char b[65536];
          int n = read(in[i], b, sizeof b);
          if (n <= 0)
            break;
          dir_t *d = &D[i];
          d->in++;
          if (n > MTU || d->t - d->h >= QN || (loss > 0 && drand48() < loss)) {
            d->drop++;
            continue;
          }
          int64_t t = now();
          if (rate > 0) {
            if (d->busy < t)
              d->busy = t;
            d->busy += (int64_t)(n * 8e9 / rate);
            t = d->busy;
          }
          pkt *q = &d->q[d->t++ % QN];
          q->due = t + (int64_t)delay;
          q->len = n;
          memcpy(q->d, b, n);
        }
    uint64_t e;
    (void)!read(tf, &e, 8);
    int64_t t = now();
    for (int i = 0; i < 2; i++)
      while (D[i].h != D[i].t && D[i].q[D[i].h % QN].due <= t) {
        pkt *q = &D[i].q[D[i].h++ % QN];
        if (write(D[i].out, q->d, q->len) > 0)
          D[i].fwd++;
      }
  }
  for (int i = 0; i < 2; i++)
    fprintf(stderr, "dir%d in=%lu fwd=%lu drop=%lu\n", i, D[i].in, D[i].fwd, D[i].drop);
  return 0;
}
