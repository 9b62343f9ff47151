//! Whole random loops and nests, and what their arrays hold when they begin.

use super::*;

impl Generator<'_> {
    /// A store that hits the word which the loop's bound is read from in one iteration, or comes near it. The word is put where
    /// an array has its elements.
    fn at_the_bound(&mut self, trips: i64) -> String {
        let suits = |a: &&Array| !self.strict || matches!(a.ty, "unsigned" | "unsigned char");
        let Some(to) = self.arrays.iter().take(3).find(suits) else { return String::new() };
        let width = TYPES.iter().find(|(ty, _)| *ty == to.ty).map_or(1, |(_, width)| *width);
        let (name, arena, offset) = (to.name, to.arena, to.offset);
        let (first, iteration) = (self.random.below(9), self.random.below(trips.max(1) as usize + 2));
        let bound = self.arrays.iter_mut().find(|a| a.name == "bound").expect("every loop has it");
        (bound.arena, bound.offset) = (arena, (offset + width * (first + iteration)) / 4 * 4);
        format!("W({name}[i + {first}]) = {} & 63; ", self.load())
    }

    /// A loop that counts without being a plain for statement.
    fn other_head(&mut self, trips: i64, body: String) -> (String, String, &'static str) {
        let array = self.array();
        let (head, body) = match *self.random.pick(&[0, 1, 1, 1, 2, 3, 4, 5]) {
            0 => ("i = 0;\n  while (i < n)", format!("{body}i++;")),
            // The test moves i, so that the first element is among those that the body sees, and the one behind the last isn't.
            1 => {
                let head = *self.random.pick(&["i = n;\n  while (i-- > 0)", "for (i = n; i-- > 0;)"]);
                let end = *self.random.pick(&["0", "0", "n"]);
                let store = format!("W({array}[i]) = (R({array}[{end}]) + 1) & 63; ");
                // The store alone, too, so that nothing else keeps the loop from running.
                match self.random.below(8) {
                    0 | 1 => (head, body),
                    2..=4 => (head, format!("{store}{body}")),
                    _ => (head, store),
                }
            }
            2 => ("i = 0;\n  for (; i < n; i++)", body),
            3 if trips > 0 => ("i = 0;\n  do", format!("{body}}} while (++i < n); {{")),
            4 if trips > 0 => ("i = 0;\n  do", format!("{body}i++; }} while (i != n); {{")),
            _ if trips >= 0 => {
                let head = format!(
                    "__typeof__({array}) p, e;\n  for (i = 0, p = {array}, e = p + n; p < e; p++, i++)"
                );
                return (head, format!("W(*p) = R(*p) + 1 & 63; {body}"), "other heads");
            }
            _ => ("i = 0;\n  while (i < n)", format!("{body}i += 1;")),
        };
        (head.into(), body, "other heads")
    }

    /// `(head, body, form)` of a loop that isn't a nest; trips: how many there may be.
    pub(super) fn plain(&mut self, trips: i64) -> (String, String, &'static str) {
        let mut body = String::new();
        let mut form = "subscripts";
        if self.random.below(5) == 0 {
            form = "walked pointers";
            let step = *self.random.pick(&["++", "++", "++", " += 2"]);
            let (to, from) = (self.array(), self.array());
            let value = if self.chance(2) { "R(*q)".into() } else { format!("(R(*q) + {})", self.load()) };
            let _ = write!(
                body,
                "W(*p) = {value} & 63; p{step}; q{};",
                if self.chance(4) { " += 2" } else { "++" }
            );
            let head = match self.random.below(3) {
                0 => format!(
                    "__typeof__({to}) p = {to}; __typeof__({from}) q = {from};\n  for (i = 0; i < n; i++)"
                ),
                _ => format!(
                    "__typeof__({to}) p = {to}; __typeof__({from}) q = {from};\n  for (i = n; i > 0; i--)"
                ),
            };
            if self.chance(3) {
                body.push_str(&format!(" sum += {};", self.load()));
            }
            return (head, body, form);
        }
        if trips <= 100 && self.chance(6) {
            for _ in 0..1 + self.random.below(3) {
                let _ = write!(body, "{} ", self.moves());
            }
            // What the counter is at first, copied where the loop begins.
            let copied = self.chance(3);
            if copied {
                let (to, from, at) = (self.array(), self.array(), *self.random.pick(&DISTANCES));
                let value = format!("(R({from}[origin + i]) + (unsigned)origin) & 63;");
                let _ = write!(body, "W({to}[origin + {} * i + {at}]) = {value}", 1 + self.random.below(2));
            }
            let head = match (copied, self.chance(2)) {
                (false, _) => "for (i = 0; i < n; i++)",
                (true, false) => "int origin;\n  for (i = 0, origin = count; i < n; i++)",
                (true, true) => "int origin;\n  for (origin = count++, i = 0; i < n; i++)",
            };
            return (head.into(), body, "moved counters");
        }
        if self.chance(7) {
            let head = *self.random.pick(&[
                "for (i = 0; i < n; i++)",
                "for (i = n - 1; i >= 0; i--)",
                "for (i = 3; i < n; i += 3)",
            ]);
            return (head.into(), self.carries(), "carried values");
        }
        if self.chance(7) {
            let head = *self.random.pick(&[
                "for (i = 0; i < n; i++)",
                "for (i = 0; i < n; i++)",
                "for (i = n - 1; i >= 0; i--)",
                "for (i = 3; i < n; i += 3)",
            ]);
            let count = 2 + self.random.below(3);
            return (head.into(), self.in_turns("i", "i", count), "statements");
        }
        if self.chance(6) {
            let body = if self.chance(2) { self.stored_subscripts() } else { self.histograms() };
            return ("for (i = 0; i < n; i++)".into(), body, "indirect");
        }
        if self.chance(8) {
            return ("for (i = 0; i < n; i++)".into(), self.bytes_of_elements(), "bytes of elements");
        }
        // As many iterations as a store says, where it hits the bound: the arrays have room for small strides.
        let from_memory = self.chance(7);
        for _ in 0..1 + self.random.below(3) {
            let statement = if trips > 1 && !from_memory && self.chance(8) {
                self.single_meeting(trips)
            } else {
                self.statement(0)
            };
            let _ = write!(body, "{statement} ");
        }
        if body.trim().is_empty() {
            body.push_str("W(a[i]) = 5;");
        }
        if self.chance(4) {
            return self.other_head(trips, body);
        }
        let head = match self.random.below(12) {
            _ if from_memory => {
                form = "bound in memory";
                if self.chance(2) {
                    body.push_str(&self.at_the_bound(trips));
                }
                "for (i = 0; i < (C(bound[0]) & 1023); i++)".to_string()
            }
            5 => "for (i = 0; i < n; i += m + 1)".to_string(),
            6 => "for (i = n - 1; i >= 0; i -= m + 1)".to_string(),
            0 => "for (i = 0; i <= n - 1; i++)".to_string(),
            1 => "for (i = n - 1; i >= 0; i--)".to_string(),
            2 => "for (i = 0; i < n; i += 2)".to_string(),
            3 => "for (i = 3; i < n; i += 3)".to_string(),
            4 if trips >= 0 => "for (i = 0; i != n; i++)".to_string(),
            7 if trips >= 0 => "for (i = 0; i < (unsigned)n; i++)".to_string(),
            8 if trips > 0 => "for (i = n - 1; i >= 1u; i--)".to_string(),
            9 if trips >= 0 => "for (i = (m & 1) - 1; i < (unsigned)n; i++)".to_string(),
            _ => "for (i = 0; i < n; i++)".to_string(),
        };
        (head, body, form)
    }

    pub(super) fn nest(&mut self) -> (String, String, &'static str) {
        if self.chance(4) {
            return self.sums();
        }
        if self.chance(3) {
            return self.column();
        }
        if self.chance(3) {
            let before = if self.chance(2) { self.in_turns("i", "i", 1) } else { String::new() };
            let first = match self.chance(2) {
                true => format!("for (int k = 0; k < m; k++) {{ {}}} ", self.in_turns("i", "k", 1)),
                false => String::new(),
            };
            let count = 1 + self.random.below(2);
            let body = self.in_turns("i", "j", count);
            let after = if self.chance(4) { self.in_turns("i", "i", 1) } else { String::new() };
            let inner = format!(
                "{before}{first}BEGIN_INNER\n    for (j = 0; j < m; j++) {{ INNER {body}}}\n    END_INNER {after}"
            );
            return ("for (i = 0; i < n; i++)".into(), inner, "statements");
        }
        if self.chance(2) {
            return self.room();
        }
        let before = if self.chance(3) { format!("{} ", self.outer_statement()) } else { String::new() };
        let mut body = String::new();
        for _ in 0..1 + self.random.below(2) {
            let _ = write!(body, "{} ", self.statement(0));
        }
        let after = if self.chance(4) { format!(" {}", self.outer_statement()) } else { String::new() };
        let head = "for (i = 0; i < n; i++)".to_string();
        let bound = if self.chance(6) { "(D(bound[0]) & 31)" } else { "m" };
        // A loop that may begin behind what it runs to, so that only the break ends it.
        let (inner_head, end) = match self.chance(6) {
            true => {
                let end = *self.random.pick(&["j > 60", "j - 3 == m", "i + j == 70"]);
                (format!("j = {}; j != {bound}; j++", self.random.pick(&["2", "i", "6"])), end)
            }
            false => (format!("j = 0; j < {bound}; j++"), ""),
        };
        let leave = if end.is_empty() { String::new() } else { format!("if (j > 90 || {end}) break; ") };
        let inner = format!(
            "{before}BEGIN_INNER\n    for ({inner_head}) {{ INNER {leave}{body}}}\n    END_INNER{after}"
        );
        (head, inner, "nest")
    }

    /// A nest with a sum over its inner loop and one over its outer loop: each keeps other iterations apart, and the one may
    /// use what the other has found so far.
    fn sums(&mut self) -> (String, String, &'static str) {
        let first = self.random.below(3);
        let [row, column, other] = [0, 1, 2].map(|n| ["a", "b", "c"][(first + n) % 3]);
        let nearby = |g: &mut Self| *g.random.pick(&[0, 0, 0, 1, 2, 31, 32]);
        let (at, to) = (1 + nearby(self), nearby(self));
        match self.random.below(4) {
            0 => {}
            // The two sums in one place, and nothing else: neither of them meets anything but the other.
            1 => self.move_apart(Some((row, column))),
            _ => self.move_apart(None),
        }
        let load = match self.chance(6) {
            true => self.load(),
            false => format!("R({other}[i + {} * j])", self.random.below(2)),
        };
        let one = format!("{row}[i + {at}]");
        let (bound, of_row, found) = match self.random.below(4) {
            0 => ("m", format!("W({one}) = (R({one}) * 3u + {load}) & 63; "), one),
            1 => ("m", format!("W({one}) = ({load} + (unsigned)j) & 63; "), one),
            // Each element once: what its neighbour's turn finds there is another matter.
            _ => {
                let near = at + self.random.below(3) - 1;
                let store = format!("W({row}[i * 40 + j + {at}]) = ({load} + (unsigned)j) & 63; ");
                ("40", store, format!("{row}[i * 40 + j + {near}]"))
            }
        };
        let found = if self.chance(3) { format!("{other}[i + 7]") } else { found };
        let of_column = format!("W({column}[j + {to}]) = (R({column}[j + {to}]) * 3u + R({found})) & 63; ");
        let body = match self.chance(2) {
            true => format!("{of_row}{of_column}"),
            false => format!("{of_column}{of_row}"),
        };
        let before = if self.chance(4) { format!("{} ", self.outer_statement()) } else { String::new() };
        let head = *self.random.pick(&["for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)"]);
        let inner = format!(
            "{before}BEGIN_INNER\n    for (j = 0; j < {bound}; j++) {{ INNER {body}}}\n    END_INNER"
        );
        (head.into(), inner, "two sums")
    }

    /// A nest whose outer loop comes back to the same elements: an inner loop that doesn't can be brought outermost.
    fn column(&mut self) -> (String, String, &'static str) {
        let mut body = String::new();
        for _ in 0..1 + self.random.below(2) {
            let (array, offset) = (self.array(), *self.random.pick(&DISTANCES));
            let at = *self.random.pick(&["j", "j", "j", "2 * j", "40 - j", "j + i / 64"]);
            let back = *self.random.pick(&[0, 0, 0, 1, 32]);
            let (old, value) = (format!("R({array}[{at} + {}])", offset + back), self.value());
            let store = format!("W({array}[{at} + {offset}]) = ({old} * 3u + {value}) & 63;");
            let _ = match self.chance(6) {
                true => write!(body, "if ({} & 1) {{ {store} }} ", self.load()),
                false => write!(body, "{store} "),
            };
        }
        if self.chance(5) {
            body.push_str(&format!("sum += {}; ", self.load()));
        }
        let head = *self.random.pick(&["for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)"]);
        let from = if self.chance(8) { "i" } else { "0" };
        let inner = format!("BEGIN_INNER\n    for (j = {from}; j < m; j++) {{ INNER {body}}}\n    END_INNER");
        (head.into(), inner, "columns")
    }

    /// Statements that have values from each other, of this iteration or of one nearby.
    fn in_turns(&mut self, outer: &str, inner: &str, count: usize) -> String {
        let mut text = String::new();
        let nearby = |g: &mut Self| *g.random.pick(&[0, 0, 0, 1, 1, 2, 31, 32, 33]);
        let first = self.random.below(3);
        for number in 0..count {
            let array = match self.chance(5) {
                true => self.array(),
                false => ["a", "b", "c"][(first + number) % 3],
            };
            let at = format!("{} + {}", *self.random.pick(&[outer, inner]), nearby(self));
            let old = if self.chance(3) { format!("R({array}[{at}]) * 3u + ") } else { String::new() };
            let value = |g: &mut Self| {
                let near = *g.random.pick(&[outer, inner]);
                format!("R({}[{near} + {}])", g.array(), nearby(g))
            };
            let (x, y) = (value(self), value(self));
            let store = format!("W({array}[{at}]) = ({old}{x} + {y} * 5u) & 63;");
            let _ = match self.chance(6) {
                true => write!(text, "if ({} & 1) {{ {store} }} ", value(self)),
                false => write!(text, "{store} "),
            };
        }
        text
    }

    /// A nest whose iterations use part of an array as room of their own, or nearly so.
    fn room(&mut self) -> (String, String, &'static str) {
        let room = self.array();
        let others: Vec<&'static str> = ["a", "b", "c"].into_iter().filter(|name| *name != room).collect();
        let to = if self.chance(8) { room } else { self.random.pick(&others) };
        let (at, behind) = (2 + self.random.pick(&DISTANCES), *self.random.pick(&DISTANCES));
        let lo = self.random.below(3);
        // Whatever else is loaded may be part of the room.
        let from = *self.random.pick(&others);
        let other = match self.chance(6) {
            true => self.value(),
            false => format!("(R({from}[i * 40 + j]) * 5u ^ (unsigned)i)"),
        };
        let value = match self.random.below(6) {
            0 => format!("(R({room}[j + {}]) + {other})", at - 1),
            1 => format!("(R({room}[j + {}]) + {other})", at - 2),
            2 if self.chance(3) => format!("(R({room}[j + {}]) + {other})", at + self.random.below(2)),
            _ => other,
        };
        let one = self.chance(5);
        let place = if one { format!("{room}[{at}]") } else { format!("{room}[j + {at}]") };
        let mut body = format!("W({place}) = {value} & 63;");
        if self.chance(8) {
            body = format!("if ({} & 1) {{ {body} }}", self.load());
        }
        if one || self.chance(3) {
            let more = if self.chance(3) { format!("U({place}, 0) += 3u; ") } else { String::new() };
            body = format!("{body} {more}W({to}[i * 40 + j + {behind}]) = (R({place}) + 1) & 63;");
        }
        let head = *self.random.pick(&["for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)"]);
        let (begin, count, step) = match self.chance(4) {
            true => ("m - 1".to_string(), format!("j >= {lo}"), "j--"),
            false => (lo.to_string(), "j < m".to_string(), "j++"),
        };
        let inner =
            format!("BEGIN_INNER\n    for (j = {begin}; {count}; {step}) {{ INNER {body} }}\n    END_INNER");
        // As much as was written, sometimes one element more, or one that is never written.
        let (from, end) = match self.random.below(6) {
            0 => (lo as i64 - 1, "m"),
            1 => (lo as i64, "m + 1"),
            2 => (lo as i64, "m - 1"),
            _ => (lo as i64, "m"),
        };
        let reads = format!(
            "for (int q = {from}; q < {end}; q++) W({to}[i * 40 + q + {}]) = (R({room}[q + {at}]) * 3u) & 63;",
            behind + 1
        );
        let after = if one { String::new() } else { format!(" {reads}") };
        (head.into(), format!("{inner}{after}"), "rooms")
    }

    /// A statement beside the inner loop.
    fn outer_statement(&mut self) -> String {
        let (to, from) = (self.array(), self.array());
        let (at, by) = (*self.random.pick(&DISTANCES), *self.random.pick(&[1, 1, 40]));
        format!("W({to}[i * {by} + {at}]) = R({from}[i + {}]) & 63;", self.random.below(3))
    }

    /// What the arrays hold before the loop.
    pub(super) fn contents(&mut self, trips: i64) -> String {
        let mut text = String::from("fill();");
        let find = |name: &str, arrays: &[Array]| {
            let array = arrays.iter().find(|a| a.name == name).expect("every loop has it");
            format!("((int *)(arena[{}] + {}))", array.arena, array.offset)
        };
        let (ix, bound) = (find("ix", &self.arrays), find("bound", &self.arrays));
        // A permutation, an order-preserving map, or anything; perhaps with one pair of equal elements.
        let map = *self.random.pick(&[
            "t * 7 % 1201",
            "t * 11 % 1303",
            "t",
            "2 * t % 2048",
            "random_number() % 2048",
        ]);
        let _ = write!(text, " for (int t = 0; t < 1200; t++) {ix}[t] = table[t] = {map};");
        if self.chance(3) {
            let at = self.random.below(trips.max(1) as usize);
            let distance = *self.random.pick(&DISTANCES[1..]);
            let _ = write!(text, " {ix}[{}] = {ix}[{at}];", (at + distance) % 1200);
        }
        let _ = write!(text, " {bound}[0] = {};", trips.clamp(0, 1000));
        text
    }
}
