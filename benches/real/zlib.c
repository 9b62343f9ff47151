/* zlib: whole buffers at three levels, a stream in pieces (as gzip writes a file), and checksums. */
#include <zlib.h>

#include "input.h"

enum { BYTES = 4 << 20, PIECE = 16 << 10 };

/* As a program that copies a file would: a piece at a time. */
static size_t stream(int level, int strategy, const unsigned char *data, unsigned char *packed, size_t room)
{
  z_stream state = {0};
  real_expect(deflateInit2(&state, level, Z_DEFLATED, 15 + 16, 8, strategy) == Z_OK, "deflateInit2");
  state.next_out = packed;
  state.avail_out = (uInt)room;
  for (size_t done = 0; done < BYTES; done += PIECE) {
    state.next_in = (unsigned char *)data + done;
    state.avail_in = PIECE;
    int end = deflate(&state, done + PIECE < BYTES ? Z_NO_FLUSH : Z_FINISH);
    real_expect(end == Z_OK || end == Z_STREAM_END, "deflate");
  }
  size_t length = state.total_out;
  deflateEnd(&state);
  return length;
}

static void unpack(const unsigned char *packed, size_t length, unsigned char *back)
{
  z_stream state = {0};
  real_expect(inflateInit2(&state, 15 + 32) == Z_OK, "inflateInit2");
  state.next_in = (unsigned char *)packed;
  state.avail_in = (uInt)length;
  int end = Z_OK;
  while (end == Z_OK) {
    state.next_out = back + state.total_out;
    state.avail_out = PIECE;
    end = inflate(&state, Z_NO_FLUSH);
  }
  real_expect(end == Z_STREAM_END && state.total_out == BYTES, "inflate");
  inflateEnd(&state);
}

int main(void)
{
  unsigned char *data = real_input(1, BYTES, 1), *back = real_memory(BYTES + PIECE);
  size_t room = compressBound(BYTES) + 64;
  unsigned char *packed = real_memory(room);
  uint64_t sum = 0;
  const int levels[] = {1, 6, 9};
  for (int i = 0; i < 3; i++) {
    uLongf length = room, plain = BYTES;
    real_expect(compress2(packed, &length, data, BYTES, levels[i]) == Z_OK, "compress2");
    sum = real_checksum(sum, packed, length);
    real_expect(uncompress(back, &plain, packed, length) == Z_OK && plain == BYTES && !memcmp(data, back, BYTES), "uncompress");
    printf("level %d: %lu\n", levels[i], (unsigned long)length);
  }
  const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE};
  for (int i = 0; i < 4; i++) {
    size_t length = stream(4, strategies[i], data, packed, room);
    sum = real_checksum(sum, packed, length);
    unpack(packed, length, back);
    real_expect(!memcmp(data, back, BYTES), "stream");
    printf("strategy %d: %zu\n", strategies[i], length);
  }
  unsigned long crc = 0, adler = 1;
  for (int turn = 0; turn < 40; turn++) {
    crc = crc32(crc, data, BYTES);
    adler = adler32(adler, data, BYTES);
  }
  printf("crc %08lx adler %08lx sum %016llx\n", crc, adler, (unsigned long long)sum);
  free(data);
  free(back);
  free(packed);
  return 0;
}
