/* zstd: fast and slow levels, a stream, long distances, and a dictionary that is trained and used for small records. */
#include <zdict.h>
#include <zstd.h>

#include "input.h"

enum { BYTES = 5 << 20, SMALL = 1 << 20, RECORDS = 2000, RECORD = 400, DICTIONARY = 16 << 10 };

static size_t good(size_t result)
{
  real_expect(!ZSTD_isError(result), ZSTD_getErrorName(result));
  return result;
}

int main(void)
{
  unsigned char *data = real_input(2, BYTES, 1), *back = real_memory(BYTES);
  size_t room = ZSTD_compressBound(BYTES);
  unsigned char *packed = real_memory(room);
  uint64_t sum = 0;
  ZSTD_CCtx *compressor = ZSTD_createCCtx();
  ZSTD_DCtx *decompressor = ZSTD_createDCtx();

  const int levels[] = {1, 3, 9, 19};
  for (int i = 0; i < 4; i++) {
    size_t bytes = levels[i] < 19 ? BYTES : SMALL;
    size_t length = good(ZSTD_compressCCtx(compressor, packed, room, data, bytes, levels[i]));
    sum = real_checksum(sum, packed, length);
    for (int turn = 0; turn < 3; turn++)
      real_expect(good(ZSTD_decompressDCtx(decompressor, back, bytes, packed, length)) == bytes && !memcmp(data, back, bytes), "decompress");
    printf("level %d: %zu\n", levels[i], length);
  }

  /* A stream with a checksum, whose input comes in pieces. */
  good(ZSTD_CCtx_reset(compressor, ZSTD_reset_session_and_parameters));
  good(ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, 5));
  good(ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1));
  good(ZSTD_CCtx_setParameter(compressor, ZSTD_c_enableLongDistanceMatching, 1));
  ZSTD_outBuffer output = {packed, room, 0};
  for (size_t done = 0; done < BYTES; done += 1 << 16) {
    ZSTD_inBuffer input = {data + done, 1 << 16, 0};
    ZSTD_EndDirective end = done + (1 << 16) < BYTES ? ZSTD_e_continue : ZSTD_e_end;
    for (size_t left = 1; input.pos < input.size || (end == ZSTD_e_end && left > 0);)
      left = good(ZSTD_compressStream2(compressor, &output, &input, end));
  }
  sum = real_checksum(sum, packed, output.pos);
  real_expect(good(ZSTD_decompress(back, BYTES, packed, output.pos)) == BYTES && !memcmp(data, back, BYTES), "stream");
  printf("stream: %zu\n", output.pos);

  /* Records that are too small to be packed one by one without a dictionary. */
  unsigned char *text = real_input(3, RECORDS * RECORD, 0), *dictionary = real_memory(DICTIONARY);
  size_t *sizes = real_memory(RECORDS * sizeof *sizes), all = 0;
  for (int i = 0; i < RECORDS; i++)
    sizes[i] = RECORD;
  size_t length = ZDICT_trainFromBuffer(dictionary, DICTIONARY, text, sizes, RECORDS);
  real_expect(!ZDICT_isError(length), "dictionary");
  sum = real_checksum(sum, dictionary, length);
  ZSTD_CDict *packing = ZSTD_createCDict(dictionary, length, 3);
  ZSTD_DDict *unpacking = ZSTD_createDDict(dictionary, length);
  for (int i = 0; i < RECORDS; i++) {
    size_t bytes = good(ZSTD_compress_usingCDict(compressor, packed, room, text + i * RECORD, RECORD, packing));
    all += bytes;
    sum = real_checksum(sum, packed, bytes);
    real_expect(good(ZSTD_decompress_usingDDict(decompressor, back, BYTES, packed, bytes, unpacking)) == RECORD, "record");
    real_expect(!memcmp(back, text + i * RECORD, RECORD), "record");
  }
  printf("dictionary %zu, records %zu, sum %016llx\n", length, all, (unsigned long long)sum);

  ZSTD_freeCDict(packing);
  ZSTD_freeDDict(unpacking);
  ZSTD_freeCCtx(compressor);
  ZSTD_freeDCtx(decompressor);
  free(sizes);
  free(dictionary);
  free(text);
  free(data);
  free(back);
  free(packed);
  return 0;
}
