/* liblzma: two presets, each check, and filters for tables and machine code in front of it. */
#include <lzma.h>

#include "input.h"

enum { BYTES = 1 << 20 };

static uint64_t there_and_back(const lzma_filter *filters, lzma_check check, const unsigned char *data, size_t bytes, unsigned char *packed, size_t room,
                               unsigned char *back)
{
  size_t length = 0, taken = 0, given = 0;
  uint64_t memory = UINT64_MAX;
  real_expect(lzma_stream_buffer_encode((lzma_filter *)filters, check, NULL, data, bytes, packed, &length, room) == LZMA_OK, "encode");
  for (int turn = 0; turn < 2; turn++) {
    taken = given = 0;
    real_expect(lzma_stream_buffer_decode(&memory, 0, NULL, packed, &taken, length, back, &given, bytes) == LZMA_OK, "decode");
    real_expect(given == bytes && !memcmp(data, back, bytes), "bytes");
  }
  printf("check %d: %zu of %zu\n", (int)check, length, bytes);
  return real_checksum(0, packed, length);
}

int main(void)
{
  unsigned char *data = real_input(6, BYTES, 1), *back = real_memory(BYTES);
  size_t room = lzma_stream_buffer_bound(BYTES);
  unsigned char *packed = real_memory(room);
  uint64_t sum = 0;
  lzma_options_lzma fast, slow;
  real_expect(!lzma_lzma_preset(&fast, 1) && !lzma_lzma_preset(&slow, 6), "preset");
  /* The dictionary of a preset is made for larger files: clearing its tables would be most of it. */
  fast.dict_size = slow.dict_size = BYTES;
  lzma_options_delta delta = {.type = LZMA_DELTA_TYPE_BYTE, .dist = 32};
  const lzma_filter plain[] = {{LZMA_FILTER_LZMA2, &fast}, {LZMA_VLI_UNKNOWN, NULL}};
  const lzma_filter best[] = {{LZMA_FILTER_LZMA2, &slow}, {LZMA_VLI_UNKNOWN, NULL}};
  const lzma_filter table[] = {{LZMA_FILTER_DELTA, &delta}, {LZMA_FILTER_LZMA2, &fast}, {LZMA_VLI_UNKNOWN, NULL}};
  const lzma_filter code[] = {{LZMA_FILTER_X86, NULL}, {LZMA_FILTER_LZMA2, &fast}, {LZMA_VLI_UNKNOWN, NULL}};
  sum += there_and_back(plain, LZMA_CHECK_CRC32, data, BYTES, packed, room, back);
  sum += there_and_back(best, LZMA_CHECK_CRC64, data, BYTES, packed, room, back);
  sum += there_and_back(table, LZMA_CHECK_SHA256, data, BYTES, packed, room, back);
  sum += there_and_back(code, LZMA_CHECK_CRC64, data, BYTES, packed, room, back);
  uint64_t crc = 0;
  for (int turn = 0; turn < 30; turn++)
    crc = lzma_crc64(data, BYTES, crc) + lzma_crc32(data, BYTES, (uint32_t)crc);
  printf("crc %016llx sum %016llx\n", (unsigned long long)crc, (unsigned long long)sum);
  free(data);
  free(back);
  free(packed);
  return 0;
}
