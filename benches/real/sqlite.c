/* SQLite: a database in memory; rows in a transaction, indexes, joins, groups, LIKE, windows, a full-text index, updates and deletions. */
#include <sqlite3.h>

#include "input.h"

enum { PEOPLE = 6000, ORDERS = 40000 };

static sqlite3 *database;
static uint64_t sum;

static void good(int result)
{
  if (result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE)
    real_expect(0, sqlite3_errmsg(database));
}

static void run(const char *text) { good(sqlite3_exec(database, text, NULL, NULL, NULL)); }

static sqlite3_stmt *prepare(const char *text)
{
  sqlite3_stmt *statement = NULL;
  good(sqlite3_prepare_v2(database, text, -1, &statement, NULL));
  return statement;
}

/* All rows of a query into the sum; prints how many, and the first one. */
static void ask(const char *text)
{
  sqlite3_stmt *statement = prepare(text);
  long rows = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
      const unsigned char *value = sqlite3_column_text(statement, column);
      sum = real_checksum(sum, value ? value : (const unsigned char *)"-", value ? (size_t)sqlite3_column_bytes(statement, column) : 1);
      if (!rows)
        printf("%s%s", column ? ", " : "", value ? (const char *)value : "-");
    }
    rows++;
  }
  good(sqlite3_finalize(statement));
  printf(" (%ld rows)\n", rows);
}

int main(void)
{
  struct real_source source = real_begin(11);
  good(sqlite3_open(":memory:", &database));
  run("create table person(id integer primary key, name text not null, city text, born integer);"
      "create table purchase(id integer primary key, person integer references person(id), item text, price real, day integer, note text);"
      "create virtual table notes using fts5(note);");
  run("begin");
  sqlite3_stmt *person = prepare("insert into person(name, city, born) values (?1, ?2, ?3)");
  for (int i = 0; i < PEOPLE; i++) {
    char name[64];
    const char *first = real_word(&source), *last = real_word(&source);
    int length = snprintf(name, sizeof name, "%s %s", first, last);
    sqlite3_bind_text(person, 1, name, length, SQLITE_TRANSIENT);
    sqlite3_bind_text(person, 2, source.words[256 + real_number(&source, 60)], -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(person, 3, 1930 + (int)real_number(&source, 80));
    good(sqlite3_step(person));
    sqlite3_reset(person);
  }
  sqlite3_finalize(person);
  sqlite3_stmt *purchase = prepare("insert into purchase(person, item, price, day, note) values (?1, ?2, ?3, ?4, ?5)");
  char note[1024];
  for (int i = 0; i < ORDERS; i++) {
    sqlite3_bind_int(purchase, 1, 1 + (int)real_number(&source, PEOPLE));
    sqlite3_bind_text(purchase, 2, source.words[1024 + real_number(&source, 500)], -1, SQLITE_TRANSIENT);
    sqlite3_bind_double(purchase, 3, real_number(&source, 100000) / 100.0);
    sqlite3_bind_int(purchase, 4, i / 100);
    sqlite3_bind_text(purchase, 5, note, (int)real_line(&source, 0, (unsigned)i, note), SQLITE_TRANSIENT);
    good(sqlite3_step(purchase));
    sqlite3_reset(purchase);
  }
  sqlite3_finalize(purchase);
  run("insert into notes(rowid, note) select id, note from purchase where id % 8 = 0");
  run("commit; create index by_person on purchase(person); create index by_item on purchase(item, price); analyze");

  ask("select count(*), sum(price), avg(price), min(note), max(note) from purchase");
  ask("select p.name, count(*) as n, sum(o.price) as total from person p join purchase o on o.person = p.id group by p.id order by total desc, p.id limit 50");
  ask("select city, count(distinct item), round(avg(price), 3) from person join purchase on purchase.person = person.id where born > 1970 group by city");
  ask("select id, note from purchase where note like '%tion%' and price between 100 and 300 order by note, id limit 200");
  ask("select item, price from purchase where item in (select item from purchase group by item having count(*) > 90) order by price desc, id limit 100");
  ask("select day, sum(price) over (order by day, id rows between 20 preceding and current row) from purchase where id < 8000");
  ask("select rowid, highlight(notes, 0, '<', '>') from notes where notes match 'th* AND con*' order by rank, rowid limit 100");
  ask("with recursive n(i, f) as (select 1, 1 union all select i + 1, (f * 31 + i) % 65521 from n where i < 60000) select sum(f), max(i) from n");
  ask("select upper(substr(name, 1, 3)) as short, group_concat(id) from (select * from person order by id) group by short order by short");
  ask("select a.item, count(*) from purchase a join purchase b on a.item = b.item and a.price < b.price and a.day = b.day group by a.item");
  ask("select json_extract(value, '$.d'), count(*) from purchase, json_each('[{\"d\": 1}, {\"d\": 2}, {\"d\": 3}]') where purchase.day % 3 + 1 = "
      "json_extract(value, '$.d') group by 1");
  run("begin; update purchase set price = price * 1.1, note = replace(note, 'the', 'THE') where day % 3 = 0; delete from purchase where id % 7 = 0; "
      "commit; vacuum");
  ask("select count(*), sum(price), sum(length(note)), count(note glob '*THE*') from purchase");
  ask("pragma integrity_check");
  printf("sum %016llx\n", (unsigned long long)sum);
  good(sqlite3_close(database));
  real_end(&source);
  return 0;
}
