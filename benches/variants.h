// Machine code of one kernel in several variants, as benches/without.cpp hands it to Paragon's runtime in the place of a cubin, and as
// benches/replays.cpp takes it apart when the runtime gives it to the driver. The first variant is the kernel as it is.
#ifndef BENCH_VARIANTS_H
#define BENCH_VARIANTS_H
#include <stdint.h>
#include <string.h>
#include <string>
#include <utility>
#include <vector>

// Names, and machine code.
typedef std::vector<std::pair<std::string, std::string>> Variants;
static const char VARIANTS[8] = "PGPARTS";

// In front of each variant, and of the first one VARIANTS and how many there are.
struct VariantHead {
  char name[48];
  uint64_t size;
};

static inline std::string packed(const Variants &variants)
{
  std::string image(VARIANTS, sizeof VARIANTS);
  const uint64_t count = variants.size();
  image.append((const char *)&count, sizeof count);
  for (const auto &[name, code] : variants) {
    VariantHead head = {};
    strncpy(head.name, name.c_str(), sizeof head.name - 1);
    head.size = code.size();
    image.append((const char *)&head, sizeof head);
    image += code;
  }
  return image;
}

// Empty: it is machine code as it is.
static inline Variants unpacked(const void *image)
{
  Variants variants;
  const char *at = (const char *)image;
  if (memcmp(at, VARIANTS, sizeof VARIANTS) != 0)
    return variants;
  uint64_t count;
  memcpy(&count, at + sizeof VARIANTS, sizeof count);
  at += sizeof VARIANTS + sizeof count;
  for (; count != 0; count--) {
    VariantHead head;
    memcpy(&head, at, sizeof head);
    variants.emplace_back(head.name, std::string(at + sizeof head, head.size));
    at += sizeof head + head.size;
  }
  return variants;
}
#endif
