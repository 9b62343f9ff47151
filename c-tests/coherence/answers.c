/* System calls that answer into memory, into arrays that loops have just stored to, or take small things from there: names, times, states of files, limits,
 * events, semaphores. */
#include "coherence.h"
#include <dirent.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>

enum { COUNT = 300000, STEPS = 34 };

int main(void)
{
  char *text = malloc(COUNT);
  double *values = malloc(COUNT / 4 * sizeof *values);
  struct utsname name;
  char host[200];
  uname(&name);
  gethostname(host, sizeof host);
  for (long t = 0; t < STEPS; t++) {
    letters(COUNT, text, t);
    begin(COUNT / 4, values, (double)t);
    char *at = text + 4096 + t * 4096;
    at += -(uintptr_t)at % 4096; /* a page's beginning, or what ends behind it */
    if (t % 2)
      at -= 16;
    void *place = at;
    long answer = -9, seen = 0;
    switch (t % 17) {
    case 0:
      answer = gethostname(at, 200);
      seen = strcmp(at, host);
      break;
    case 1:
      answer = uname(place);
      seen = memcmp(place, &name, sizeof name);
      break;
    case 2:
      answer = clock_gettime(CLOCK_MONOTONIC, place);
      seen = ((struct timespec *)place)->tv_nsec < 1000000000;
      memset(place, 0, sizeof(struct timespec));
      break;
    case 3:
      answer = gettimeofday(place, NULL);
      seen = ((struct timeval *)place)->tv_sec > 1000000;
      memset(place, 0, sizeof(struct timeval));
      break;
    case 4:
      answer = stat("/", place);
      seen = S_ISDIR(((struct stat *)place)->st_mode);
      memset(place, 0, sizeof(struct stat));
      break;
    case 5:
      answer = readlink("/proc/self/fd", at, 100); /* a directory */
      seen = symlink("target of a link", "link") == 0 || errno == EEXIST;
      answer = readlink(strcpy(at + 300, "link"), at, 100);
      break;
    case 6:
      answer = getrlimit(RLIMIT_NOFILE, place);
      seen = ((struct rlimit *)place)->rlim_cur > 10;
      memset(place, 0, sizeof(struct rlimit));
      break;
    case 7: {
      int *ends = place;
      answer = pipe(ends);
      seen = write(ends[1], at + 20, 5);
      seen += 10 * read(ends[0], at + 100, 9);
      seen += close(ends[0]) + close(ends[1]);
      memset(place, 0, 8);
      break;
    }
    case 8: {
      struct pollfd *asked = place;
      int ends[2];
      ensure(pipe(ends) == 0 && write(ends[1], "x", 1) == 1, "pipe");
      asked[0] = (struct pollfd){ends[0], POLLIN, 0}, asked[1] = (struct pollfd){ends[1], POLLOUT, 0};
      answer = poll(asked, 2, 1000);
      seen = asked[0].revents * 100 + asked[1].revents;
      memset(place, 0, 16);
      close(ends[0]), close(ends[1]);
      break;
    }
    case 9: {
      fd_set *set = place;
      struct timeval *wait = (void *)(at + 800);
      int ends[2];
      ensure(pipe(ends) == 0, "pipe");
      FD_ZERO(set);
      FD_SET(ends[0], set);
      *wait = (struct timeval){0, 300};
      answer = select(ends[0] + 1, set, NULL, NULL, wait);
      seen = FD_ISSET(ends[0], set);
      memset(wait, 0, sizeof *wait);
      close(ends[0]), close(ends[1]);
      break;
    }
    case 10: {
      struct epoll_event *events = place, event = {.events = EPOLLOUT, .data.u64 = 7};
      int ends[2], poll = epoll_create1(0);
      ensure(pipe(ends) == 0, "pipe");
      epoll_ctl(poll, EPOLL_CTL_ADD, ends[1], &event);
      answer = epoll_wait(poll, events, 4, 1000);
      seen = (long)events[0].data.u64;
      close(ends[0]), close(ends[1]), close(poll);
      break;
    }
    case 11: {
      sem_t *semaphore = place;
      struct timespec *until = (void *)(at + 100);
      answer = sem_init(semaphore, 0, 1) + sem_wait(semaphore);
      clock_gettime(CLOCK_REALTIME, until);
      until->tv_nsec = until->tv_nsec / 2;
      seen = sem_timedwait(semaphore, until) == -1 && errno == ETIMEDOUT;
      memset(at, 0, 200);
      break;
    }
    case 12: {
      struct timespec *wait = place;
      wait[0] = (struct timespec){0, 50000};
      answer = nanosleep(&wait[0], &wait[1]);
      break;
    }
    case 13:
      answer = getcwd(at, 4000) == at;
      seen = at[0] == '/';
      memset(at, 'c', 4000);
      break;
    case 14: {
      /* Names of a directory, by way of the C library's own buffer; and one as the system gives it. */
      DIR *folder = opendir("/proc/self/task");
      answer = 0;
      ensure(folder != NULL, "opendir");
      answer = readdir(folder) != NULL;
      closedir(folder);
      break;
    }
    case 15:
      answer = getrusage(RUSAGE_SELF, place);
      seen = ((struct rusage *)place)->ru_maxrss > 100;
      memset(place, 0, sizeof(struct rusage));
      break;
    default:
      answer = getgroups(0, NULL) >= 0;
      seen = getitimer(ITIMER_REAL, place);
    }
    printf("%ld: %ld %ld %.17g\n", t, answer, seen, values[t]);
    flip(COUNT, text);
    show("text", t, at - 200, 200);
    show("behind", t, at, 5000);
  }
  show("values", STEPS, values, COUNT / 4 * sizeof *values);
  return 0;
}
