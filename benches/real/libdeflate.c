/* libdeflate: four levels of the three formats, there and back, and checksums. */
#include <libdeflate.h>

#include "input.h"

enum { BYTES = 4 << 20 };

int main(void)
{
  unsigned char *data = real_input(7, BYTES, 1), *back = real_memory(BYTES);
  const int levels[] = {1, 6, 9, 12};
  struct libdeflate_decompressor *reader = libdeflate_alloc_decompressor();
  uint64_t sum = 0;
  for (int i = 0; i < 4; i++) {
    struct libdeflate_compressor *writer = libdeflate_alloc_compressor(levels[i]);
    real_expect(writer && reader, "memory");
    size_t bytes = levels[i] < 12 ? BYTES : BYTES / 4, room = libdeflate_gzip_compress_bound(writer, bytes);
    unsigned char *packed = real_memory(room);
    size_t length = libdeflate_gzip_compress(writer, data, bytes, packed, room);
    real_expect(length > 0, "gzip");
    sum = real_checksum(sum, packed, length);
    for (int turn = 0; turn < 5; turn++)
      real_expect(libdeflate_gzip_decompress(reader, packed, length, back, bytes, NULL) == LIBDEFLATE_SUCCESS && !memcmp(data, back, bytes), "gunzip");
    printf("level %d: %zu\n", levels[i], length);
    /* As many small pieces as a server sends. */
    size_t all = 0;
    for (size_t piece = 0; piece + 4096 <= bytes / 2; piece += 4096) {
      length = libdeflate_zlib_compress(writer, data + piece, 4096, packed, room);
      all += length;
      sum = real_checksum(sum, packed, 32);
      real_expect(libdeflate_zlib_decompress(reader, packed, length, back, 4096, NULL) == LIBDEFLATE_SUCCESS, "zlib");
    }
    printf("pieces: %zu\n", all);
    free(packed);
    libdeflate_free_compressor(writer);
  }
  libdeflate_free_decompressor(reader);
  uint32_t crc = 0, adler = 1;
  for (int turn = 0; turn < 100; turn++) {
    crc = libdeflate_crc32(crc, data, BYTES);
    adler = libdeflate_adler32(adler, data, BYTES);
  }
  printf("crc %08x adler %08x sum %016llx\n", crc, adler, (unsigned long long)sum);
  free(data);
  free(back);
  return 0;
}
