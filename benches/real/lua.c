/* Lua: scripts as people benchmark interpreters with, and as they write them: text, tables, sorting, closures, numbers, coroutines. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "input.h"

static const char script[] =
    "local text = ...\n"
    "local out = {}\n"
    "local function say(name, ...) out[#out + 1] = name .. ' ' .. table.concat({...}, ' ') end\n"
    /* Words of a text, counted; the most frequent of them, in order. */
    "local count, words = {}, {}\n"
    "for word in text:gmatch('%a+') do\n"
    "  word = word:lower()\n"
    "  if not count[word] then count[word] = 0; words[#words + 1] = word end\n"
    "  count[word] = count[word] + 1\n"
    "end\n"
    "table.sort(words, function(a, b) return count[a] > count[b] or count[a] == count[b] and a < b end)\n"
    "for i = 1, 5 do say('word', words[i], count[words[i]]) end\n"
    /* Replacements. */
    "local changed, times = text:gsub('(%d+)%-(%d+)%-(%d+)', '%3.%2.%1')\n"
    "say('dates', #changed, times)\n"
    "changed, times = text:gsub('%f[%a]%a+', function(word) if #word > 7 then return word:upper():reverse() end end)\n"
    "say('long words', #changed, times)\n"
    "local lines = {}\n"
    "for line in text:gmatch('[^\\n]+') do lines[#lines + 1] = line end\n"
    "table.sort(lines)\n"
    "say('lines', #lines, #table.concat(lines, '|'), (text:find('ERROR', 1, true)))\n"
    /* Building strings. */
    "local parts = {}\n"
    "for i = 1, 60000 do parts[#parts + 1] = string.format('%d:%s:%5.2f', i, ('x'):rep(i % 5), i / 7) end\n"
    "say('built', #table.concat(parts))\n"
    "local grown = ''\n"
    "for i = 1, 3000 do grown = grown .. string.char(97 + i % 26) .. i end\n"
    "say('grown', #grown)\n"
    /* Sorting numbers. */
    "local numbers, state = {}, 42\n"
    "for i = 1, 60000 do state = (state * 1103515245 + 12345) % 2147483648; numbers[i] = state end\n"
    "table.sort(numbers)\n"
    "local sum = 0\n"
    "for i, v in ipairs(numbers) do sum = (sum * 31 + v * i) % 1000000007 end\n"
    "say('sorted', sum)\n"
    /* A sieve. */
    "local composite, primes = {}, 0\n"
    "for i = 2, 400000 do\n"
    "  if not composite[i] then primes = primes + 1; for j = i * i, 400000, i do composite[j] = true end end\n"
    "end\n"
    "say('primes', primes)\n"
    /* Bodies that attract each other. */
    "local bodies = {}\n"
    "for i = 1, 5 do bodies[i] = {x = i * 1.5, y = i % 3, z = i * 0.25, vx = 0.1 * i, vy = -0.05 * i, vz = 0.02, mass = 1 / i} end\n"
    "for step = 1, 15000 do\n"
    "  for i = 1, #bodies do\n"
    "    local a = bodies[i]\n"
    "    for j = i + 1, #bodies do\n"
    "      local b = bodies[j]\n"
    "      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z\n"
    "      local d2 = dx * dx + dy * dy + dz * dz + 0.01\n"
    "      local f = 0.001 / (d2 * math.sqrt(d2))\n"
    "      a.vx, a.vy, a.vz = a.vx - dx * b.mass * f, a.vy - dy * b.mass * f, a.vz - dz * b.mass * f\n"
    "      b.vx, b.vy, b.vz = b.vx + dx * a.mass * f, b.vy + dy * a.mass * f, b.vz + dz * a.mass * f\n"
    "    end\n"
    "  end\n"
    "  for _, a in ipairs(bodies) do a.x, a.y, a.z = a.x + 0.001 * a.vx, a.y + 0.001 * a.vy, a.z + 0.001 * a.vz end\n"
    "end\n"
    "say('bodies', string.format('%.17g %.17g', bodies[1].x, bodies[5].vz))\n"
    /* Matrices. */
    "local n, a, b = 70, {}, {}\n"
    "for i = 1, n do a[i], b[i] = {}, {}; for j = 1, n do a[i][j], b[i][j] = i + j / n, i - j / n end end\n"
    "local trace = 0\n"
    "for i = 1, n do for j = 1, n do local s = 0.0; for k = 1, n do s = s + a[i][k] * b[k][j] end; if i == j then trace = trace + s end end end\n"
    "say('trace', string.format('%.17g', trace))\n"
    /* Closures, methods, recursion, coroutines. */
    "local function counter() local c = 0; return function(by) c = c + by; return c end end\n"
    "local counters = {}\n"
    "for i = 1, 1000 do counters[i] = counter() end\n"
    "local last = 0\n"
    "for turn = 1, 400 do for i = 1, 1000 do last = last + counters[i](turn) end end\n"
    "say('closures', last)\n"
    "local Queue = {}; Queue.__index = Queue\n"
    "function Queue.new() return setmetatable({first = 1, last = 0}, Queue) end\n"
    "function Queue:push(v) self.last = self.last + 1; self[self.last] = v end\n"
    "function Queue:pop() local v = self[self.first]; self[self.first] = nil; self.first = self.first + 1; return v end\n"
    "local queue, through = Queue.new(), 0\n"
    "for i = 1, 200000 do queue:push({i}); if i > 100 then through = through + queue:pop()[1] end end\n"
    "say('queue', through)\n"
    "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end\n"
    "say('fib', fib(24))\n"
    "local generator = coroutine.wrap(function() for i = 1, 100000 do coroutine.yield(i) end end)\n"
    "local yielded = 0\n"
    "for i = 1, 100000 do yielded = yielded + generator() end\n"
    "say('coroutine', yielded)\n"
    "local moved = table.move(numbers, 1, 50000, 1001, {})\n"
    "say('moved', #moved, table.unpack(moved, 2000, 2003))\n"
    "say('packed', #string.pack('>I4s2d', 7, lines[1], 2.5), (string.unpack('<i8', string.pack('<i8', -5))))\n"
    "return table.concat(out, '\\n')\n";

int main(void)
{
  enum { BYTES = 600 << 10 };
  unsigned char *text = real_input(10, BYTES, 0);
  lua_State *lua = luaL_newstate();
  real_expect(lua != NULL, "lua_newstate");
  luaL_openlibs(lua);
  if (luaL_loadbuffer(lua, script, sizeof script - 1, "script") == LUA_OK) {
    lua_pushlstring(lua, (const char *)text, BYTES);
    if (lua_pcall(lua, 1, 1, 0) == LUA_OK) {
      printf("%s\n", lua_tostring(lua, -1));
      lua_close(lua);
      free(text);
      return 0;
    }
  }
  printf("failed: %s\n", lua_tostring(lua, -1));
  return 1;
}
