/* Tree-sitter: a C file is parsed, walked, searched by a query, and parsed again after small changes, as an editor does. */
#include <tree_sitter/api.h>

#include "input.h"

const TSLanguage *tree_sitter_c(void);

enum { BYTES = 1400 << 10, EDITS = 60 };

/* A statement of a function; how long it is. */
static uint32_t write_statement(struct real_source *source, char *to, const char *name, const char *first)
{
  static const char condition[] = "  if (sum > %u && list->next) {\n    list = list->next;\n    printf(\"%%d %s\\n\", sum);\n  } else\n    return -%u;\n";
  static const char choice[] = "  switch (n & 3) {\n  case 0: sum ^= 0x%xu; break;\n  default: sum = LIMIT(sum, %u);\n  }\n";
  static const char store[] = "  // %s %s\n  list->x%s[sum %% %u].value = (unsigned char)'%c';\n";
  static const char call[] = "  sum = x%s_%u(n - 1, \"%s\", &(struct node){.next = list, .value = %u});\n";
  unsigned number = real_number(source, 1000);
  const char *word = real_word(source);
  switch (real_number(source, 6)) {
  case 0: return (uint32_t)sprintf(to, "  for (int i = 0; i < n; i++)\n    sum += x%s[i] * %u - (sum >> 3);\n", first, number);
  case 1: return (uint32_t)sprintf(to, condition, number, word, number);
  case 2: return (uint32_t)sprintf(to, choice, number, number);
  case 3: return (uint32_t)sprintf(to, store, word, name, word, number + 1, 'a' + (int)(number % 26));
  case 4: return (uint32_t)sprintf(to, "  while (list && list->x%s != n)\n    list = list->next;\n", word);
  default: return (uint32_t)sprintf(to, call, word, number, word, number);
  }
}

/* A C file, function by function; where each begins. */
static uint32_t write_file(char *text, uint32_t *begins, uint32_t *count)
{
  struct real_source source = real_begin(12);
  uint32_t length = (uint32_t)sprintf(text, "#include <stdio.h>\n#define LIMIT(a, b) ((a) < (b) ? (a) : (b))\n\n");
  for (*count = 0; length < BYTES; ++*count) {
    const char *name = real_word(&source), *first = real_word(&source);
    begins[*count] = length;
    if (!real_number(&source, 8)) {
      static const char record[] = "struct x%s_%u {\n  int x%s, *next;\n  char text[%u];\n  enum { A%u, B%u = 1 << %u } kind;\n};\n\n";
      unsigned letters = real_number(&source, 100), shift = real_number(&source, 20);
      length += (uint32_t)sprintf(text + length, record, name, *count, first, letters, *count, *count, shift);
      continue;
    }
    static const char head[] = "/* %s %s %s. */\nstatic int x%s_%u(int n, const char *x%s, struct node *list)\n{\n  int sum = 0;\n";
    length += (uint32_t)sprintf(text + length, head, name, first, real_word(&source), name, *count, first);
    for (uint32_t statements = 1 + real_number(&source, 12); statements > 0; statements--)
      length += write_statement(&source, text + length, name, first);
    length += (uint32_t)sprintf(text + length, "  return sum;\n}\n\n");
  }
  real_end(&source);
  return length;
}

/* Every node of a tree. */
static uint64_t walk(const TSTree *tree, unsigned long *nodes)
{
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  uint64_t sum = 0;
  for (;;) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    TSPoint point = ts_node_start_point(node);
    sum ^= ts_node_symbol(node) * 65536u + ts_node_start_byte(node) + point.row + point.column * 77;
    sum = sum * 1099511628211u + ts_tree_cursor_current_field_id(&cursor);
    ++*nodes;
    if (ts_tree_cursor_goto_first_child(&cursor))
      continue;
    while (!ts_tree_cursor_goto_next_sibling(&cursor))
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        ts_tree_cursor_delete(&cursor);
        return sum;
      }
  }
}

static TSPoint point_at(const char *text, uint32_t byte)
{
  TSPoint point = {0, 0};
  for (uint32_t i = 0; i < byte; i++) {
    point.column++;
    if (text[i] == '\n') {
      point.row++;
      point.column = 0;
    }
  }
  return point;
}

int main(void)
{
  char *text = real_memory(BYTES + (64 << 10));
  uint32_t *begins = real_memory((BYTES / 40) * sizeof *begins), count, length = write_file(text, begins, &count);
  TSParser *parser = ts_parser_new();
  real_expect(ts_parser_set_language(parser, tree_sitter_c()), "language");
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
  unsigned long nodes = 0;
  uint64_t sum = walk(tree, &nodes);
  printf("%u bytes, %lu nodes, errors %d, %016llx\n", length, nodes, ts_node_has_error(ts_tree_root_node(tree)), (unsigned long long)sum);

  static const char pattern[] = "(function_definition declarator: (function_declarator declarator: (identifier) @name)) "
                                "(call_expression function: (identifier) @call) "
                                "((comment) @comment) "
                                "(for_statement body: (expression_statement (assignment_expression left: (_) @left right: (binary_expression) @right))) "
                                "[\"if\" \"while\" \"switch\" \"return\"] @word";
  uint32_t offset;
  TSQueryError error;
  TSQuery *query = ts_query_new(tree_sitter_c(), pattern, sizeof pattern - 1, &offset, &error);
  real_expect(query != NULL, "query");
  TSQueryCursor *found = ts_query_cursor_new();
  ts_query_cursor_exec(found, query, ts_tree_root_node(tree));
  TSQueryMatch match;
  unsigned long captures[8] = {0};
  for (uint32_t index; ts_query_cursor_next_capture(found, &match, &index);) {
    captures[match.captures[index].index]++;
    sum = (sum ^ ts_node_start_byte(match.captures[index].node)) * 1099511628211u;
  }
  printf("captures %lu %lu %lu %lu %lu %lu\n", captures[0], captures[1], captures[2], captures[3], captures[4], captures[5]);

  /* A line is put in front of a function. */
  for (int edit = 0; edit < EDITS; edit++) {
    uint32_t at = begins[(uint32_t)edit * 7919 % count];
    const char *line = edit % 2 ? "int more = 1;\n" : "/* } */\n";
    uint32_t more = (uint32_t)strlen(line);
    TSInputEdit change = {.start_byte = at, .old_end_byte = at, .new_end_byte = at + more, .start_point = point_at(text, at)};
    change.old_end_point = change.start_point;
    change.new_end_point = (TSPoint){change.start_point.row + 1, 0};
    memmove(text + at + more, text + at, length - at);
    memcpy(text + at, line, more);
    length += more;
    for (uint32_t i = 0; i < count; i++)
      begins[i] += begins[i] >= at ? more : 0;
    ts_tree_edit(tree, &change);
    TSTree *next = ts_parser_parse_string(parser, tree, text, length);
    uint32_t ranges;
    TSRange *changed = ts_tree_get_changed_ranges(tree, next, &ranges);
    sum = sum * 31 + ranges;
    free(changed);
    ts_tree_delete(tree);
    tree = next;
  }
  nodes = 0;
  sum += walk(tree, &nodes);
  printf("%u bytes, %lu nodes, sum %016llx\n", length, nodes, (unsigned long long)sum);
  ts_query_cursor_delete(found);
  ts_query_delete(query);
  ts_tree_delete(tree);
  ts_parser_delete(parser);
  free(begins);
  free(text);
  return 0;
}
