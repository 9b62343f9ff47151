/* System calls that take what they move from lists, which lie in arrays as the memory that they tell of does: writev, readv, sendmsg, recvmsg, sendfile,
 * splice, vmsplice. */
#include "coherence.h"
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { COUNT = 60000, STEPS = 14 };

int main(void)
{
  uint32_t *a = calloc(COUNT, sizeof *a), *b = calloc(COUNT, sizeof *b);
  struct iovec *list = malloc(20000 * sizeof *list);
  struct msghdr *message = malloc(300000);
  int file = open("values", O_RDWR | O_CREAT | O_TRUNC, 0600), sockets[2], ends[2];
  ensure(file >= 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0 && pipe(ends) == 0, "files");
  for (long t = 0; t < STEPS; t++) {
    advance(COUNT, a, (uint32_t)t);
    letters(20000 * sizeof *list, (char *)list, t);
    letters(300000, (char *)message, t);
    struct iovec *parts = list + 1000 + t;
    struct msghdr *at = message + 900 + t;
    for (int k = 0; k < 4; k++)
      parts[k] = (struct iovec){(char *)a + 4096 * k * 5 + 4090, (size_t)k * 700 + 13};
    switch (t % 7) {
    case 0:
      printf("%zd\n", writev(file, parts, 4));
      break;
    case 1:
      lseek(file, 5, SEEK_SET);
      printf("%zd\n", readv(file, parts, 4));
      break;
    case 2:
      memset(at, 0, sizeof *at);
      at->msg_iov = parts, at->msg_iovlen = 4;
      printf("%zd\n", sendmsg(sockets[0], at, 0));
      advance(COUNT, b, (uint32_t)t);
      parts[0] = (struct iovec){b + 100, 3000}, parts[1] = (struct iovec){b + 5000, 5000};
      at->msg_iovlen = 2;
      printf("%zd\n", recvmsg(sockets[1], at, 0));
      printf("%zu %d\n", at->msg_iovlen, at->msg_flags);
      break;
    case 3:
      printf("%zd\n", pwrite(file, a, 20000, 0));
      printf("%zd\n", sendfile(sockets[0], file, &(off_t){33}, 9000));
      printf("%zd\n", recv(sockets[1], b + 9000, 10000, 0));
      break;
    case 4:
      printf("%zd\n", send(sockets[0], a + 50, 7000, 0));
      printf("%zd\n", recvfrom(sockets[1], a + 3000, 6000, 0, NULL, NULL));
      break;
    case 5:
      printf("%zd\n", vmsplice(ends[1], parts, 4, 0));
      printf("%zd\n", read(ends[0], b + 20000, 9000));
      break;
    default:
      printf("%zd\n", pwrite(file, a, 30000, 0));
      printf("%zd\n", splice(file, &(off_t){100}, ends[1], NULL, 10000, 0));
      printf("%zd\n", read(ends[0], (char *)a + 777, 10000));
    }
    show("a", t, a + t * 1000, 9000);
    show("list", t, list, 900 * sizeof *list);
    show("message", t, message, 900 * sizeof *message);
  }
  show("a", STEPS, a, COUNT * sizeof *a);
  show("b", STEPS, b, COUNT * sizeof *b);
  return 0;
}
