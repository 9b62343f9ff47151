//! What generated programs have in common: where their numbers come from, and the hash of their memory that they print.

/// C text, behind the headers.
pub const PRELUDE: &str = r#"static unsigned long long hash = 14695981039346656037ull;
static unsigned long long state = 88172645463325252ull;

static unsigned next(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 24);
}
static void mix(unsigned long long value)
{
  hash = (hash ^ value) * 1099511628211ull;
  hash ^= hash >> 29;
}
static void mix_float(double value)
{
  unsigned long long bits = 1;
  if (value == value)
    memcpy(&bits, &value, sizeof bits);
  mix(bits);
}
"#;
