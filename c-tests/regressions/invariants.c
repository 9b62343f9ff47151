/* Many numbers that a loop doesn't change: each has a name in the loop's code, which once was that of a type where there were enough of them. */
#include <stdio.h>

enum { COUNT = 20000 };

static signed char char_sums_from[COUNT + 10], char_sums_weights[10];
static long long char_sums_to[COUNT];

static void char_sums(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    long long sum = 0;
    sum += char_sums_weights[0] * (long long)char_sums_from[i + 0];
    sum += char_sums_weights[1] * (long long)char_sums_from[i + 1];
    sum += char_sums_weights[2] * (long long)char_sums_from[i + 2];
    sum += char_sums_weights[3] * (long long)char_sums_from[i + 3];
    sum += char_sums_weights[4] * (long long)char_sums_from[i + 4];
    sum += char_sums_weights[5] * (long long)char_sums_from[i + 5];
    sum += char_sums_weights[6] * (long long)char_sums_from[i + 6];
    sum += char_sums_weights[7] * (long long)char_sums_from[i + 7];
    sum += char_sums_weights[8] * (long long)char_sums_from[i + 8];
    sum += char_sums_weights[9] * (long long)char_sums_from[i + 9];
    char_sums_to[i] = sum;
  }
}

static short short_sums_from[COUNT + 18], short_sums_weights[18];
static long long short_sums_to[COUNT];

static void short_sums(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    long long sum = 0;
    sum += short_sums_weights[0] * (long long)short_sums_from[i + 0];
    sum += short_sums_weights[1] * (long long)short_sums_from[i + 1];
    sum += short_sums_weights[2] * (long long)short_sums_from[i + 2];
    sum += short_sums_weights[3] * (long long)short_sums_from[i + 3];
    sum += short_sums_weights[4] * (long long)short_sums_from[i + 4];
    sum += short_sums_weights[5] * (long long)short_sums_from[i + 5];
    sum += short_sums_weights[6] * (long long)short_sums_from[i + 6];
    sum += short_sums_weights[7] * (long long)short_sums_from[i + 7];
    sum += short_sums_weights[8] * (long long)short_sums_from[i + 8];
    sum += short_sums_weights[9] * (long long)short_sums_from[i + 9];
    sum += short_sums_weights[10] * (long long)short_sums_from[i + 10];
    sum += short_sums_weights[11] * (long long)short_sums_from[i + 11];
    sum += short_sums_weights[12] * (long long)short_sums_from[i + 12];
    sum += short_sums_weights[13] * (long long)short_sums_from[i + 13];
    sum += short_sums_weights[14] * (long long)short_sums_from[i + 14];
    sum += short_sums_weights[15] * (long long)short_sums_from[i + 15];
    sum += short_sums_weights[16] * (long long)short_sums_from[i + 16];
    sum += short_sums_weights[17] * (long long)short_sums_from[i + 17];
    short_sums_to[i] = sum;
  }
}

static int int_sums_from[COUNT + 34], int_sums_weights[34];
static long long int_sums_to[COUNT];

static void int_sums(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    long long sum = 0;
    sum += int_sums_weights[0] * (long long)int_sums_from[i + 0];
    sum += int_sums_weights[1] * (long long)int_sums_from[i + 1];
    sum += int_sums_weights[2] * (long long)int_sums_from[i + 2];
    sum += int_sums_weights[3] * (long long)int_sums_from[i + 3];
    sum += int_sums_weights[4] * (long long)int_sums_from[i + 4];
    sum += int_sums_weights[5] * (long long)int_sums_from[i + 5];
    sum += int_sums_weights[6] * (long long)int_sums_from[i + 6];
    sum += int_sums_weights[7] * (long long)int_sums_from[i + 7];
    sum += int_sums_weights[8] * (long long)int_sums_from[i + 8];
    sum += int_sums_weights[9] * (long long)int_sums_from[i + 9];
    sum += int_sums_weights[10] * (long long)int_sums_from[i + 10];
    sum += int_sums_weights[11] * (long long)int_sums_from[i + 11];
    sum += int_sums_weights[12] * (long long)int_sums_from[i + 12];
    sum += int_sums_weights[13] * (long long)int_sums_from[i + 13];
    sum += int_sums_weights[14] * (long long)int_sums_from[i + 14];
    sum += int_sums_weights[15] * (long long)int_sums_from[i + 15];
    sum += int_sums_weights[16] * (long long)int_sums_from[i + 16];
    sum += int_sums_weights[17] * (long long)int_sums_from[i + 17];
    sum += int_sums_weights[18] * (long long)int_sums_from[i + 18];
    sum += int_sums_weights[19] * (long long)int_sums_from[i + 19];
    sum += int_sums_weights[20] * (long long)int_sums_from[i + 20];
    sum += int_sums_weights[21] * (long long)int_sums_from[i + 21];
    sum += int_sums_weights[22] * (long long)int_sums_from[i + 22];
    sum += int_sums_weights[23] * (long long)int_sums_from[i + 23];
    sum += int_sums_weights[24] * (long long)int_sums_from[i + 24];
    sum += int_sums_weights[25] * (long long)int_sums_from[i + 25];
    sum += int_sums_weights[26] * (long long)int_sums_from[i + 26];
    sum += int_sums_weights[27] * (long long)int_sums_from[i + 27];
    sum += int_sums_weights[28] * (long long)int_sums_from[i + 28];
    sum += int_sums_weights[29] * (long long)int_sums_from[i + 29];
    sum += int_sums_weights[30] * (long long)int_sums_from[i + 30];
    sum += int_sums_weights[31] * (long long)int_sums_from[i + 31];
    sum += int_sums_weights[32] * (long long)int_sums_from[i + 32];
    sum += int_sums_weights[33] * (long long)int_sums_from[i + 33];
    int_sums_to[i] = sum;
  }
}

static long long long_sums_from[COUNT + 66], long_sums_weights[66];
static long long long_sums_to[COUNT];

static void long_sums(int n)
{
  for (int i = 0; i < n; i++) { /* entered */
    long long sum = 0;
    sum += long_sums_weights[0] * (long long)long_sums_from[i + 0];
    sum += long_sums_weights[1] * (long long)long_sums_from[i + 1];
    sum += long_sums_weights[2] * (long long)long_sums_from[i + 2];
    sum += long_sums_weights[3] * (long long)long_sums_from[i + 3];
    sum += long_sums_weights[4] * (long long)long_sums_from[i + 4];
    sum += long_sums_weights[5] * (long long)long_sums_from[i + 5];
    sum += long_sums_weights[6] * (long long)long_sums_from[i + 6];
    sum += long_sums_weights[7] * (long long)long_sums_from[i + 7];
    sum += long_sums_weights[8] * (long long)long_sums_from[i + 8];
    sum += long_sums_weights[9] * (long long)long_sums_from[i + 9];
    sum += long_sums_weights[10] * (long long)long_sums_from[i + 10];
    sum += long_sums_weights[11] * (long long)long_sums_from[i + 11];
    sum += long_sums_weights[12] * (long long)long_sums_from[i + 12];
    sum += long_sums_weights[13] * (long long)long_sums_from[i + 13];
    sum += long_sums_weights[14] * (long long)long_sums_from[i + 14];
    sum += long_sums_weights[15] * (long long)long_sums_from[i + 15];
    sum += long_sums_weights[16] * (long long)long_sums_from[i + 16];
    sum += long_sums_weights[17] * (long long)long_sums_from[i + 17];
    sum += long_sums_weights[18] * (long long)long_sums_from[i + 18];
    sum += long_sums_weights[19] * (long long)long_sums_from[i + 19];
    sum += long_sums_weights[20] * (long long)long_sums_from[i + 20];
    sum += long_sums_weights[21] * (long long)long_sums_from[i + 21];
    sum += long_sums_weights[22] * (long long)long_sums_from[i + 22];
    sum += long_sums_weights[23] * (long long)long_sums_from[i + 23];
    sum += long_sums_weights[24] * (long long)long_sums_from[i + 24];
    sum += long_sums_weights[25] * (long long)long_sums_from[i + 25];
    sum += long_sums_weights[26] * (long long)long_sums_from[i + 26];
    sum += long_sums_weights[27] * (long long)long_sums_from[i + 27];
    sum += long_sums_weights[28] * (long long)long_sums_from[i + 28];
    sum += long_sums_weights[29] * (long long)long_sums_from[i + 29];
    sum += long_sums_weights[30] * (long long)long_sums_from[i + 30];
    sum += long_sums_weights[31] * (long long)long_sums_from[i + 31];
    sum += long_sums_weights[32] * (long long)long_sums_from[i + 32];
    sum += long_sums_weights[33] * (long long)long_sums_from[i + 33];
    sum += long_sums_weights[34] * (long long)long_sums_from[i + 34];
    sum += long_sums_weights[35] * (long long)long_sums_from[i + 35];
    sum += long_sums_weights[36] * (long long)long_sums_from[i + 36];
    sum += long_sums_weights[37] * (long long)long_sums_from[i + 37];
    sum += long_sums_weights[38] * (long long)long_sums_from[i + 38];
    sum += long_sums_weights[39] * (long long)long_sums_from[i + 39];
    sum += long_sums_weights[40] * (long long)long_sums_from[i + 40];
    sum += long_sums_weights[41] * (long long)long_sums_from[i + 41];
    sum += long_sums_weights[42] * (long long)long_sums_from[i + 42];
    sum += long_sums_weights[43] * (long long)long_sums_from[i + 43];
    sum += long_sums_weights[44] * (long long)long_sums_from[i + 44];
    sum += long_sums_weights[45] * (long long)long_sums_from[i + 45];
    sum += long_sums_weights[46] * (long long)long_sums_from[i + 46];
    sum += long_sums_weights[47] * (long long)long_sums_from[i + 47];
    sum += long_sums_weights[48] * (long long)long_sums_from[i + 48];
    sum += long_sums_weights[49] * (long long)long_sums_from[i + 49];
    sum += long_sums_weights[50] * (long long)long_sums_from[i + 50];
    sum += long_sums_weights[51] * (long long)long_sums_from[i + 51];
    sum += long_sums_weights[52] * (long long)long_sums_from[i + 52];
    sum += long_sums_weights[53] * (long long)long_sums_from[i + 53];
    sum += long_sums_weights[54] * (long long)long_sums_from[i + 54];
    sum += long_sums_weights[55] * (long long)long_sums_from[i + 55];
    sum += long_sums_weights[56] * (long long)long_sums_from[i + 56];
    sum += long_sums_weights[57] * (long long)long_sums_from[i + 57];
    sum += long_sums_weights[58] * (long long)long_sums_from[i + 58];
    sum += long_sums_weights[59] * (long long)long_sums_from[i + 59];
    sum += long_sums_weights[60] * (long long)long_sums_from[i + 60];
    sum += long_sums_weights[61] * (long long)long_sums_from[i + 61];
    sum += long_sums_weights[62] * (long long)long_sums_from[i + 62];
    sum += long_sums_weights[63] * (long long)long_sums_from[i + 63];
    sum += long_sums_weights[64] * (long long)long_sums_from[i + 64];
    sum += long_sums_weights[65] * (long long)long_sums_from[i + 65];
    long_sums_to[i] = sum;
  }
}

int main(void)
{
  unsigned long long hash = 0;
  for (int i = 0; i < COUNT + 10; i++)
    char_sums_from[i] = (signed char)(i * 37 % 101 - 50);
  for (int i = 0; i < 10; i++)
    char_sums_weights[i] = (signed char)(i * 11 % 17 - 8);
  char_sums(COUNT);
  for (int i = 0; i < COUNT; i++)
    hash = hash * 31 + (unsigned long long)char_sums_to[i];
  printf("char_sums %llu\n", hash);
  for (int i = 0; i < COUNT + 18; i++)
    short_sums_from[i] = (short)(i * 37 % 101 - 50);
  for (int i = 0; i < 18; i++)
    short_sums_weights[i] = (short)(i * 11 % 17 - 8);
  short_sums(COUNT);
  for (int i = 0; i < COUNT; i++)
    hash = hash * 31 + (unsigned long long)short_sums_to[i];
  printf("short_sums %llu\n", hash);
  for (int i = 0; i < COUNT + 34; i++)
    int_sums_from[i] = (int)(i * 37 % 101 - 50);
  for (int i = 0; i < 34; i++)
    int_sums_weights[i] = (int)(i * 11 % 17 - 8);
  int_sums(COUNT);
  for (int i = 0; i < COUNT; i++)
    hash = hash * 31 + (unsigned long long)int_sums_to[i];
  printf("int_sums %llu\n", hash);
  for (int i = 0; i < COUNT + 66; i++)
    long_sums_from[i] = (long long)(i * 37 % 101 - 50);
  for (int i = 0; i < 66; i++)
    long_sums_weights[i] = (long long)(i * 11 % 17 - 8);
  long_sums(COUNT);
  for (int i = 0; i < COUNT; i++)
    hash = hash * 31 + (unsigned long long)long_sums_to[i];
  printf("long_sums %llu\n", hash);
  return 0;
}
