/* Oniguruma: patterns of all kinds over text, all matches of each with their groups; then each line by itself, as grep would. */
#include <oniguruma.h>

#include "input.h"

enum { BYTES = 3 << 20 };

static regex_t *compile(const char *pattern, OnigOptionType options)
{
  regex_t *regex;
  OnigErrorInfo error;
  const UChar *text = (const UChar *)pattern;
  real_expect(onig_new(&regex, text, text + strlen(pattern), options, ONIG_ENCODING_UTF8, ONIG_SYNTAX_ONIGURUMA, &error) == ONIG_NORMAL, pattern);
  return regex;
}

/* All matches: how many, and a checksum of where they and their groups are. */
static uint64_t all(regex_t *regex, const UChar *text, size_t bytes, unsigned long *count)
{
  OnigRegion *region = onig_region_new();
  const UChar *end = text + bytes, *at = text;
  uint64_t sum = 0;
  while (at < end && onig_search(regex, text, end, at, end, region, ONIG_OPTION_NONE) >= 0) {
    for (int i = 0; i < region->num_regs; i++)
      sum = (sum ^ (uint64_t)(region->beg[i] * 31 + region->end[i])) * 1099511628211u;
    ++*count;
    at = text + (region->end[0] > region->beg[0] ? region->end[0] : region->end[0] + 1);
  }
  onig_region_free(region, 1);
  return sum;
}

int main(void)
{
  static const struct {
    const char *pattern;
    OnigOptionType options;
  } patterns[] = {
      {"took", ONIG_OPTION_NONE},
      {"(\\d{4})-(\\d\\d)-(\\d\\d) (\\d\\d):(\\d\\d):(\\d\\d)\\.\\d+ ERROR", ONIG_OPTION_NONE},
      {"\\b(con\\w+|re(?=ver)\\w*|[a-f]+ing)\\b", ONIG_OPTION_IGNORECASE},
      {"\"name\": \"([^\"]*)\".*?\"price\": (\\d+)\\.(\\d+)", ONIG_OPTION_NONE},
      {"(\\w)\\1\\w*(\\w)\\2", ONIG_OPTION_NONE},
      {"^\\s*if \\((?<name>\\w+)->(\\w+)\\[i\\] (<|==) \\d+\\)\\n\\s*\\w+\\(\\k<name>", ONIG_OPTION_NONE},
      {"(?<!\\d)[1-9]\\d{2}(?!\\d)", ONIG_OPTION_NONE},
      {"[\\p{Lu}][\\p{Ll}]+(,? \\p{L}+)+\\.", ONIG_OPTION_NONE},
      {"\\((?:[^()]|\\g<0>)*\\)", ONIG_OPTION_NONE},
  };
  unsigned char *text = real_input(8, BYTES, 0);
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  real_expect(onig_initialize(encodings, 1) == ONIG_NORMAL, "initialize");
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    regex_t *regex = compile(patterns[i].pattern, patterns[i].options);
    unsigned long count = 0;
    uint64_t sum = all(regex, text, BYTES, &count);
    unsigned long lines = 0;
    for (const UChar *line = text, *end = text + BYTES; line < end;) {
      const UChar *next = memchr(line, '\n', (size_t)(end - line));
      next = next ? next : end;
      lines += onig_search(regex, line, next, line, next, NULL, ONIG_OPTION_NONE) >= 0;
      line = next + 1;
    }
    printf("%s: %lu, in %lu lines, %016llx\n", patterns[i].pattern, count, lines, (unsigned long long)sum);
    onig_free(regex);
  }
  onig_end();
  free(text);
  return 0;
}
