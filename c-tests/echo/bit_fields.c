/* Bit-fields whose values are promoted by their width: across units of packed structs, and members of a function's value.
 * Found by csmith (seeds 1628, 2584, 2956). */
#include <stdio.h>
#pragma pack(1)
struct packed { signed f0 : 20; volatile unsigned f1; volatile unsigned f2 : 17; const signed f3 : 15; unsigned f4 : 24; };
#pragma pack()
struct plain { unsigned char c; unsigned f : 7; long w : 40; unsigned long x: 33;};
static struct packed g_88 = {-745,7,277,-177,1922};
static struct plain two(void) { struct plain s = {1, 2, 3, 4}; return s; }
int g=-5; unsigned char u=1;
int main(void){
  printf("%d %d\n",((g|=1)|g_88.f4)>=u,((g|=1)|g_88.f2)>=u);
  printf("%d %d\n",(g|two().f)>=u,(g|two().c)>=u);
  printf("%d %d\n",(g + two().f) / 2, (int)sizeof(two()));
  g_88.f4 += 3; g_88.f2--; g_88.f4 = g_88.f4 << 3;
  printf("%d %u %d\n", g_88.f4, (unsigned)g_88.f2, g_88.f4 - 20000 < 0);
  return 0;}
