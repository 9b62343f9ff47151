//! Subscripts, values and statements of random loops. What heads stand around them, and which statements go together, is in `forms.rs`.

use super::*;

impl Generator<'_> {
    /// A subscript below 4500.
    fn subscript(&mut self) -> String {
        let offset = *self.random.pick(&DISTANCES) + self.random.below(3);
        if self.nested {
            let by = *self.random.pick(&[
                "i * m + j",
                "i * m + j",
                "i * m + j",
                "j * n + i",
                "i + j",
                "j",
                "i",
                "i * 40 + 2 * j",
            ]);
            return format!("{by} + {offset}");
        }
        match self.random.below(if self.indirect { 18 } else { 10 }) {
            0..=5 => {
                let stride = *self.random.pick(&[1, 1, 1, 1, 2, 3, 0]);
                format!("{stride} * i + {offset}")
            }
            6 => format!("1200 - i + {offset}"),
            7 => {
                let modulus = *self.random.pick(&[7, 32, 64, 100, 1009, 2003]);
                format!("({} * i + {offset}) % {modulus}", 1 + self.random.below(3))
            }
            8 => format!("(unsigned char)(i * {} + {offset})", 1 + self.random.below(5)),
            9 => format!("((unsigned)i * 2654435761u >> {})", 21 + self.random.below(3)),
            10 => "(R(table[i]) & 2047)".into(),
            11 | 12 => "(R(ix[i]) & 2047)".into(),
            13..=16 => self.between(),
            _ => format!("(R(ix[i + {}]) & 1023) + {offset}", self.random.below(2)),
        }
    }

    /// A subscript that lies between two numbers, whatever it is computed from.
    fn between(&mut self) -> String {
        let (low, high) = (self.random.below(40), 40 + self.random.below(1500));
        let value = *self.random.pick(&["i", "i - 20", "i * 3", "1200 - i", "R(ix[i])"]);
        match self.random.below(5) {
            0 => format!("bounded({value}, {low}, {high})"),
            1 => format!("bounded({value}, {low}, n)"),
            2 => format!("bounded({value}, 0, 60) * 8 + {low}"),
            3 => format!("((unsigned)({value}) % {high}u + {low})"),
            _ => format!("(bounded({value}, {low}, {high}) & {})", *self.random.pick(&["31", "1023", "~1"])),
        }
    }

    pub(super) fn load(&mut self) -> String {
        let (array, at) = (self.array(), self.subscript());
        match self.random.below(12) {
            0 => format!("got_{}({array}, {at})", self.suffix(array)),
            1 => format!("total_{}({array} + {at}, {})", self.suffix(array), 1 + self.random.below(4)),
            _ => format!("R({array}[{at}])"),
        }
    }

    /// Which of the functions for each type are those of an array's.
    fn suffix(&self, array: &str) -> usize {
        let ty = self.arrays.iter().find(|a| a.name == array).map_or("", |a| a.ty);
        TYPES.iter().position(|(name, _)| *name == ty).unwrap_or(0)
    }

    pub(super) fn value(&mut self) -> String {
        match self.random.below(10) {
            0 => "(unsigned)i".into(),
            9 => format!("waved({})", self.load()),
            1..=4 => self.load(),
            5 | 6 => format!("({} + {})", self.load(), self.load()),
            7 => format!("({} * 5u ^ (unsigned)i)", self.load()),
            _ if self.chance(2) => format!("twisted({})", self.load()),
            _ => format!("chosen({}, (unsigned)i)", self.load()),
        }
    }

    pub(super) fn statement(&mut self, depth: usize) -> String {
        if self.indirect && !self.nested && self.chance(8) {
            return self.argument();
        }
        match self.random.below(14) {
            12 => self.step_behind(),
            13 => self.other_signs(),
            0..=4 => {
                let (array, at, value) = (self.array(), self.subscript(), self.value());
                // What an element is in any case: an update that commutes, which the shadow takes for a store.
                let own = [format!("R({array}[{at}])"), format!("got_{}({array}, {at})", self.suffix(array))];
                let more = if own.contains(&value) { " + 1" } else { "" };
                format!("W({array}[{at}]) = {value}{more} & 63;")
            }
            5 | 6 => {
                let (array, at, value) = (self.array(), self.subscript(), self.value());
                let operation = self.random.below(3);
                let op = ["+=", "^=", "|="][operation];
                format!("U({array}[{at}], {operation}) {op} {value} & 63;")
            }
            7 if self.chance(2) => {
                let (array, at, value) = (self.array(), self.subscript(), self.value());
                // An argument that is loaded from where the function stores before it uses it.
                let value = if self.chance(2) { format!("R({array}[{at}])") } else { value };
                format!("put_{}({array}, {at}, {value});", self.suffix(array))
            }
            7 if self.chance(3) => {
                let (first, second, third) = (self.load(), self.load(), self.load());
                let (array, at, value) = (self.array(), self.subscript(), self.value());
                format!(
                    "{{ unsigned own[4] = {{{first}}}; own[1] = {second}; own[{third} & 3] ^= {value}; W({array}[{at}]) = (own[0] + own[i & 3]) & 63; }}"
                )
            }
            7 => format!("sum += {};", self.value()),
            8 => match self.chance(2) {
                true => format!("t = {}; if (most < t) most = t;", self.load()),
                false => {
                    let relation = *self.random.pick(&["<", "<="]);
                    format!(
                        "t = {}; if (greatest {relation} t) {{ greatest = t; where = (unsigned)i; }}",
                        self.load()
                    )
                }
            },
            9 => {
                let (array, at) = (self.array(), self.subscript());
                format!("t = {} & 63; W({array}[{at}]) = t;", self.load())
            }
            _ if depth > 0 => self.statement(depth),
            _ if self.chance(3) => self.jumps(depth + 1),
            _ => format!("if ({} & 1) {{ {} }}", self.load(), self.statement(depth + 1)),
        }
    }

    /// An inner loop whose step uses its variable in front of the move or behind it.
    fn step_behind(&mut self) -> String {
        let (array, offset) = (self.array(), *self.random.pick(&DISTANCES));
        let (turns, stride) = (*self.random.pick(&[2, 3]), *self.random.pick(&[1, 2, 3, 3]));
        let place = format!("{array}[{stride} * i + k + {offset}]");
        let (uses, body) = match self.chance(2) {
            true => (format!("W({place}) = t & 63"), format!("t += {};", self.value())),
            false => (format!("t += R({place})"), ";".into()),
        };
        let step = if self.chance(4) { format!("{uses}, k++") } else { format!("k++, {uses}") };
        let (to, at) = (self.array(), self.subscript());
        // What the step of the iteration before reaches last may be what the body reaches first.
        let first = match self.chance(2) {
            true => format!("R({array}[{stride} * i + {offset}])"),
            false => "1".into(),
        };
        format!("t = {first}; for (int k = 0; k < {turns}; {step}) {body} W({to}[{at}]) = t & 63;")
    }

    /// An inner loop whose variable is compared with a number of other signedness or width: it may have no turn where the first value
    /// is below zero, or go on below zero until it is left.
    fn other_signs(&mut self) -> String {
        let (array, offset, stride) =
            (self.array(), 8 + self.random.pick(&DISTANCES), *self.random.pick(&[0, 1, 2, 3]));
        let (first, turns) = (self.random.below(5) as i64 - 2, self.random.below(5));
        let ty = *self.random.pick(&[
            "int",
            "int",
            "int",
            "short",
            "signed char",
            "long",
            "unsigned",
            "unsigned char",
        ]);
        let limit = match self.random.below(4) {
            0 => format!("{turns}u"),
            1 => "(unsigned)(m & 3)".into(),
            2 => format!("(unsigned long){turns}"),
            _ => format!("(unsigned char){turns}"),
        };
        let head = match self.random.below(3) {
            0 => format!(
                "{ty} k = {}; k >= {}; k--",
                self.random.below(4),
                self.random.pick(&["0u", "1u", "0ul", "(unsigned)(m & 1)"])
            ),
            1 => format!("{ty} k = {first}; k != {limit}; k++"),
            _ => format!("{ty} k = {first}; k < {limit}; k++"),
        };
        // Whatever the head says, few turns.
        let place = format!("{array}[{stride} * i + (long)(signed char)k + {offset}]");
        let leave = "if (++t > 6) break; ";
        let body = match self.random.below(4) {
            0 => format!("sum += R({place});"),
            1 => format!("W({place}) = (R({place}) + 1) & 63;"),
            _ => format!("W({place}) = {} & 63;", self.value()),
        };
        // How many turns there were decides where something is stored.
        let (to, at) = (self.array(), self.subscript());
        let after = match self.random.below(3) {
            0 => format!("W({to}[{at}]) = t & 63;"),
            1 => format!("W({to}[i + t]) = 3;"),
            _ => String::new(),
        };
        format!("t = 0; for ({head}) {{ {leave}{body} }} {after}")
    }

    /// A store of what a function of libm gives for what another iteration stores.
    fn argument(&mut self) -> String {
        let (array, distance) = (self.array(), *self.random.pick(&[0, 1, 31]));
        let (store, load) = if self.chance(2) { (0, distance) } else { (distance, 0) };
        format!(
            "W({array}[R(ix[i + {store}]) & 2047]) = (unsigned)(sin((double)R({array}[R(ix[i + {load}]) & 2047])) * 30.0 + 31.0) & 63;"
        )
    }

    /// Statements with a `switch` or a `goto` among them.
    fn jumps(&mut self, depth: usize) -> String {
        let (value, first, second) = (self.load(), self.statement(depth), self.statement(depth));
        self.labels += 1;
        let label = format!("label_{}", self.labels);
        match self.random.below(4) {
            0 => format!("switch ({value} & 3) {{ case 0: {first} break; case 2: {second} }}"),
            1 => format!(
                "switch ({value}) {{ default: {first} /* and on */ case 7 ... 40: {second} break; case 3: ; }}"
            ),
            2 => format!("if ({value} & 1) goto {label}; {first} {label}: {second}"),
            _ => format!(
                "if ({value} & 1) goto {label}; if ({} & 2) {{ {first} goto {label}_end; }} {label}: {second} {label}_end: ;",
                self.load()
            ),
        }
    }

    /// Statements that move a counter, and use it: the same way in every iteration, or not.
    pub(super) fn moves(&mut self) -> String {
        let (to, from) = (self.array(), self.array());
        let (at, by) = (*self.random.pick(&DISTANCES), 1 + self.random.below(2));
        let use_it = format!("W({to}[count + {at}]) = (R({from}[count]) + 1) & 63;");
        match self.random.below(8) {
            0 => format!("count += {by}{}; {use_it}", if self.chance(2) { "" } else { "u" }),
            1 => format!("{use_it} count++; W({to}[count++]) = 5;"),
            2 => format!("if ({} & 1) {{ {use_it} count += {by}; }} else count += {by};", self.load()),
            3 => {
                self.carries = true;
                format!("if ({} & 1) {{ count++; {use_it} }} else count += 2;", self.load())
            }
            4 => format!("for (j = 0; j < (m & 3); j++) {{ {use_it} count++; }}"),
            5 => format!("for (j = 0; j < 3; j++, count += {by}) {{ {use_it} }}"),
            6 => format!("t = count + {by}; {use_it} count = t + 1; W({to}[t]) = 9;"),
            _ => format!("{use_it} count = count + {by};"),
        }
    }

    /// Statements that use what the iteration before has left, and leave something to the next.
    pub(super) fn carries(&mut self) -> String {
        let use_it = |g: &mut Self| {
            let (array, at, what) = (g.array(), g.subscript(), *g.random.pick(&["last", "last", "older"]));
            format!("W({array}[{at}]) = {what} + {} & 63;", g.load())
        };
        let (first, load) = (use_it(self), self.load());
        let between = if self.chance(3) { self.statement(1) } else { String::new() };
        let leave = match self.random.below(5) {
            0 => "last = (unsigned)i * 3u;".to_string(),
            1 => format!("last = {load} ^ (unsigned)i;"),
            2 => format!("older = last; last = {load};"),
            3 => {
                self.carries = true;
                format!("if ({load} & 1) last = 5;")
            }
            _ => format!("last = {load};"),
        };
        let after = if self.chance(3) { use_it(self) } else { String::new() };
        format!("{first} {between} {leave} {after}")
    }

    /// A subscript that is loaded from where the same iteration, or another one, has stored.
    pub(super) fn stored_subscripts(&mut self) -> String {
        let suits = |a: &&Array| !self.strict || matches!(a.ty, "unsigned" | "unsigned char");
        let values: Vec<&'static str> = self.arrays.iter().take(3).filter(suits).map(|a| a.name).collect();
        if !self.chance(3) {
            self.move_apart(None);
        }
        let (at, by) = (40 + self.random.below(3) as i32, *self.random.pick(&[0, 0, 0, 0, 1, 32, -1, -32]));
        let mut first = String::new();
        if !values.is_empty() && !self.chance(6) {
            let name = *self.random.pick(&values);
            let (arena, offset) =
                self.arrays.iter().find(|a| a.name == name).map_or((0, 0), |a| (a.arena, a.offset));
            let ix = self.arrays.iter_mut().find(|a| a.name == "ix").expect("every loop has it");
            (ix.arena, ix.offset) = (arena, offset / 4 * 4);
            let value = if self.chance(3) { self.value() } else { "((unsigned)i * 5u)".into() };
            first = format!("W({name}[i + {}]) = {value} & 63; ", at + by);
        }
        let (to, from) = (self.array(), self.array());
        format!("{first}W({to}[R(ix[i + {at}]) & 2047]) = (R({from}[i]) + 1) & 63;")
    }

    /// Updates of elements whose numbers are loaded, of one kind or of several.
    pub(super) fn histograms(&mut self) -> String {
        // Objects with names of their own have nothing in common with each other.
        let [first, numbers] = if self.chance(3) { [self.array(), "ix"] } else { ["counts", "table"] };
        let mut text = String::new();
        let operation = self.random.below(3);
        for number in 0..2 + self.random.below(2) {
            let array = if self.chance(8) { self.array() } else { first };
            let operation = if self.chance(2) { operation } else { (operation + 1) % 3 };
            let op = ["+=", "^=", "|="][operation];
            let value = if self.chance(6) { self.load() } else { format!("((unsigned)i * {}u)", 3 + number) };
            let at = format!(
                "R({numbers}[i + {}]) & {}",
                number % 2 * self.random.below(3),
                self.random.pick(&[63, 2047])
            );
            let update = format!("U({array}[{at}], {operation}) {op} {value} & 63;");
            let _ = match self.chance(6) {
                true => write!(text, "if ({} & 1) {{ {update} }} ", self.load()),
                false => write!(text, "{update} "),
            };
        }
        text
    }

    /// Elements that are loaded as a whole, while the iteration itself, and others, store bytes of them.
    pub(super) fn bytes_of_elements(&mut self) -> String {
        if !self.chance(3) {
            self.move_apart(None);
        }
        let number = self.random.below(3);
        let width = |ty: &str| TYPES.iter().find(|(name, _)| *name == ty).map_or(1, |(_, width)| *width);
        let (array, width) = (self.arrays[number].name, width(self.arrays[number].ty));
        let others: Vec<&'static str> = ["a", "b", "c"].into_iter().filter(|name| *name != array).collect();
        let (to, from) = (*self.random.pick(&others), *self.random.pick(&others));
        let by = *self.random.pick(&[1, 1, 1, 2, 31, 0, -1]);
        let (own, later) = (self.random.below(width), self.random.below(width));
        let byte = |of: i32, byte: usize| {
            format!("W(((unsigned char *){array})[{width} * (i + {}) + {byte}])", 1040 - of)
        };
        let (value, chance) =
            if self.chance(3) { (self.value(), self.chance(3)) } else { ("(unsigned)i".into(), false) };
        let own = if chance { String::new() } else { format!("{} = {value} & 63; ", byte(0, own)) };
        let whole = format!("t = (unsigned)(R({array}[i + 1040]) % 61); ");
        let later = format!("{} = (R({from}[i]) * 3u) & 63; ", byte(by, later));
        let before = if self.chance(3) { format!("{whole}{own}") } else { format!("{own}{whole}") };
        format!("{before}{later}W({to}[i + 1000]) = t;")
    }

    /// Two accesses with different strides that have an element in common at one end of the loop only, or none; or one in the
    /// first iteration and, perhaps, one more in two others.
    pub(super) fn single_meeting(&mut self, trips: i64) -> String {
        let (array, first) = (self.array(), self.random.below(50) as i64);
        if (3..=64).contains(&trips) && self.chance(2) {
            let stride = trips / 2 + 1 + self.random.below((trips / 2) as usize + 1) as i64;
            return match self.chance(3) {
                true => format!("W({array}[i + {first}]) = (R({array}[{stride} * i + {first}]) + 1) & 63;"),
                false => format!("W({array}[{stride} * i + {first}]) = (R({array}[i + {first}]) + 1) & 63;"),
            };
        }
        let second = first + trips - 1 + self.random.below(3) as i64 - 1;
        match self.chance(2) {
            true => format!("W({array}[i + {first}]) = (R({array}[2 * i + {second}]) + 1) & 63;"),
            false => format!("W({array}[2 * i + {second}]) = (R({array}[i + {first}]) + 1) & 63;"),
        }
    }
}
