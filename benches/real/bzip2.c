/* bzip2: the smallest and the largest blocks, there and back; text, and what repeats so much that the fallback sort is asked. */
#include <bzlib.h>

#include "input.h"

enum { BYTES = 3 << 20, SMALL = 400 << 10 };

/* The library is built without stdio and asks for this in its place. */
void bz_internal_error(int code)
{
  printf("failed: bzip2's own error %d\n", code);
  exit(3);
}

static uint64_t there_and_back(const unsigned char *data, unsigned bytes, int level, unsigned char *packed, unsigned room, unsigned char *back)
{
  unsigned length = room, plain = bytes;
  real_expect(BZ2_bzBuffToBuffCompress((char *)packed, &length, (char *)data, bytes, level, 0, 30) == BZ_OK, "compress");
  real_expect(BZ2_bzBuffToBuffDecompress((char *)back, &plain, (char *)packed, length, 0, 0) == BZ_OK, "decompress");
  real_expect(plain == bytes && !memcmp(data, back, bytes), "bytes");
  printf("level %d: %u of %u\n", level, length, bytes);
  return real_checksum(0, packed, length);
}

int main(void)
{
  unsigned char *data = real_input(5, BYTES, 1), *back = real_memory(BYTES);
  unsigned room = BYTES + BYTES / 100 + 600;
  unsigned char *packed = real_memory(room);
  uint64_t sum = there_and_back(data, BYTES, 9, packed, room, back);
  sum += there_and_back(data, BYTES / 2, 1, packed, room, back);
  for (unsigned i = 0; i < SMALL; i++)
    data[i] = data[i % 30000];
  sum += there_and_back(data, SMALL, 9, packed, room, back);
  printf("sum %016llx\n", (unsigned long long)sum);
  free(data);
  free(back);
  free(packed);
  return 0;
}
