/* LZ4: blocks as a storage engine packs its pages, high compression, and frames with checksums. */
#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>

#include "input.h"

enum { BYTES = 8 << 20, PAGE = 64 << 10, TURNS = 6 };

int main(void)
{
  unsigned char *data = real_input(4, BYTES, 1), *back = real_memory(BYTES);
  LZ4F_preferences_t preferences = {.frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled, .blockMode = LZ4F_blockLinked}};
  size_t room = LZ4F_compressFrameBound(BYTES, &preferences);
  unsigned char *packed = real_memory(room);
  uint64_t sum = 0;

  for (int turn = 0; turn < TURNS; turn++) {
    size_t all = 0;
    for (size_t page = 0; page < BYTES; page += PAGE) {
      int length = LZ4_compress_fast((const char *)data + page, (char *)packed, PAGE, (int)room, 1 + turn);
      real_expect(length > 0, "LZ4_compress_fast");
      all += (size_t)length;
      sum = real_checksum(sum, packed, 64);
      real_expect(LZ4_decompress_safe((const char *)packed, (char *)back + page, length, PAGE) == PAGE, "LZ4_decompress_safe");
    }
    real_expect(!memcmp(data, back, BYTES), "pages");
    printf("acceleration %d: %zu\n", 1 + turn, all);
  }

  const int levels[] = {4, 9, 11};
  for (int i = 0; i < 3; i++) {
    size_t bytes = BYTES >> i;
    int length = LZ4_compress_HC((const char *)data, (char *)packed, (int)bytes, (int)room, levels[i]);
    real_expect(length > 0, "LZ4_compress_HC");
    sum = real_checksum(sum, packed, (size_t)length);
    real_expect(LZ4_decompress_safe((const char *)packed, (char *)back, length, BYTES) == (int)bytes && !memcmp(data, back, bytes), "high compression");
    printf("level %d: %d\n", levels[i], length);
  }

  LZ4F_dctx *reader;
  real_expect(!LZ4F_isError(LZ4F_createDecompressionContext(&reader, LZ4F_VERSION)), "context");
  for (int turn = 0; turn < TURNS; turn++) {
    size_t length = LZ4F_compressFrame(packed, room, data, BYTES, &preferences);
    real_expect(!LZ4F_isError(length), "LZ4F_compressFrame");
    sum = real_checksum(sum, packed, 4096);
    size_t taken = 0, given = 0;
    while (taken < length) {
      size_t from = length - taken < PAGE ? length - taken : PAGE, to = BYTES - given;
      real_expect(!LZ4F_isError(LZ4F_decompress(reader, back + given, &to, packed + taken, &from, NULL)), "LZ4F_decompress");
      taken += from;
      given += to;
    }
    real_expect(given == BYTES && !memcmp(data, back, BYTES), "frame");
  }
  LZ4F_freeDecompressionContext(reader);
  printf("sum %016llx\n", (unsigned long long)sum);
  free(data);
  free(back);
  free(packed);
  return 0;
}
