//! Random loops for the oracle: affine, modulo, wrapping and indirect subscripts, subscripts that the loop itself stores, walked
//! pointers, bounds and bases in memory, conditions, reductions, extremes, histograms, private arrays, bytes of elements, calls (of
//! libm, too) and nests, over arrays that lie apart, overlap at every distance, or are the same.
//!
//! Each is one text for both compilations (`c-tests/oracle/shadow.h`). Whether it carries a dependence is not known here.

use super::numbers::Random;
use std::fmt::Write;

/// Distances, in elements, at which dependences are planted: around the width of a warp, and far.
const DISTANCES: [usize; 7] = [0, 1, 2, 31, 32, 33, 1000];

/// One loop of a program.
pub struct Loop {
    /// Lines in `loops.h` of its loop, and of the one inside.
    pub line: u64,
    /// See `line`.
    pub inner_line: Option<u64>,
    /// Whether the loop is nothing but the one inside.
    pub is_perfect: bool,
    /// What it is made of, for reports.
    pub form: &'static str,
    /// Whether a scalar carries a value from one iteration to the next in a way that data decides on. What the shadow sees
    /// is memory only.
    pub carries: bool,
}

/// A program: `loops.h`, and the main program around it.
pub struct Program {
    pub loops_h: String,
    pub main_c: String,
    pub loops: Vec<Loop>,
}

struct Array {
    name: &'static str,
    ty: &'static str,
    arena: usize,
    offset: usize,
}

struct Generator<'a> {
    random: &'a mut Random,
    /// Types that alias only where C lets them.
    strict: bool,
    arrays: Vec<Array>,
    nested: bool,
    indirect: bool,
    /// Labels used so far.
    labels: usize,
    /// See [`Loop::carries`].
    carries: bool,
}

/// Types of elements: all unsigned, so that no arithmetic overflows.
const TYPES: [(&str, usize); 4] =
    [("unsigned char", 1), ("unsigned short", 2), ("unsigned", 4), ("unsigned long", 8)];

impl Generator<'_> {
    fn chance(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    /// Lays the arrays out. `ix` and `bound` hold ints.
    fn place_arrays(&mut self) {
        let shared = *self.random.pick(&TYPES);
        let apart = self.random.below(3) == 0;
        for (number, name) in ["a", "b", "c", "ix", "bound"].into_iter().enumerate() {
            let int = number >= 3;
            let (ty, width) = if int {
                ("int", 4)
            } else if self.strict || self.chance(2) {
                if self.chance(6) { TYPES[0] } else { shared }
            } else {
                *self.random.pick(&TYPES)
            };
            let (mut arena, mut offset) = (number % 3, 4096 * (1 + number / 3) + 64 * self.random.below(8));
            if number >= 3 {
                // Index arrays and bounds lie behind what is stored, unless they are planted below.
                offset = 56 * 1024 + (number - 3) * 6 * 1024;
            }
            let may_alias = !self.strict || !int;
            if number > 0 && !apart && may_alias && self.random.below(if name == "ix" { 6 } else { 2 }) == 0 {
                let other = &self.arrays[self.random.below(number.min(3))];
                let alike = !self.strict || other.ty == ty || other.ty == TYPES[0].0 || ty == TYPES[0].0;
                if alike {
                    let (other_arena, other_offset) = (other.arena, other.offset);
                    let distance = width * self.random.pick(&DISTANCES);
                    arena = other_arena;
                    offset = match self.chance(2) && other_offset > distance {
                        true => other_offset - distance,
                        false => other_offset + distance,
                    };
                    offset -= offset % width;
                }
            }
            self.arrays.push(Array { name, ty, arena, offset });
        }
    }

    /// Lays the arrays out so that they have nothing in common, but for two that overlap where their types may.
    fn move_apart(&mut self, overlapping: Option<(&str, &str)>) {
        for (number, array) in self.arrays.iter_mut().take(3).enumerate() {
            (array.arena, array.offset) = (number, 4096);
        }
        let Some((x, y)) = overlapping else { return };
        let [x, y] = [x, y].map(|name| self.arrays.iter().position(|a| a.name == name).expect("an array"));
        let (of_x, of_y) = (self.arrays[x].ty, self.arrays[y].ty);
        if !self.strict || of_x == of_y || [of_x, of_y].contains(&TYPES[0].0) {
            let distance = 8 * *self.random.pick(&[0, 0, 1, 5, 32]);
            (self.arrays[y].arena, self.arrays[y].offset) = (self.arrays[x].arena, 4096 + distance);
        }
    }

    fn array(&mut self) -> &'static str {
        ["a", "b", "c"][self.random.below(3)]
    }

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

    fn load(&mut self) -> String {
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

    fn value(&mut self) -> String {
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

    fn statement(&mut self, depth: usize) -> String {
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
    fn moves(&mut self) -> String {
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
    fn carries(&mut self) -> String {
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
    fn stored_subscripts(&mut self) -> String {
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
    fn histograms(&mut self) -> String {
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
    fn bytes_of_elements(&mut self) -> String {
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
    fn single_meeting(&mut self, trips: i64) -> String {
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
    fn plain(&mut self, trips: i64) -> (String, String, &'static str) {
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

    fn nest(&mut self) -> (String, String, &'static str) {
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
    fn contents(&mut self, trips: i64) -> String {
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

/// The program of a seed with `count` loops. `strict`: it obeys the rules for types that alias.
pub fn program(random: &mut Random, count: usize, strict: bool) -> Program {
    let mut loops_h = String::from(
        "/* Made by tests/oracle/loops.rs. */\nstatic int bounded(int value, int low, int high)\n{\n  return value < low ? low : value > high ? high : value;\n}\n\
         static unsigned twisted(unsigned x)\n{\n  x ^= x >> 3;\n  return x * 2654435761u;\n}\n\
         static unsigned waved(unsigned x)\n{\n  return (unsigned)(sin((double)x) * 30.0 + 31.0);\n}\n\
         static unsigned chosen(unsigned x, unsigned y)\n{\n  unsigned least = x;\n  if (y < least)\n    least = y;\n  if (least > 9) {\n    \
         if (x == y)\n      return 1;\n    return least & 31;\n  }\n  return twisted(x);\n}\n",
    );
    for (number, (ty, _)) in TYPES.iter().enumerate() {
        let _ = writeln!(
            loops_h,
            "static unsigned got_{number}(const {ty} *from, long at)\n{{\n  return (unsigned)R(from[at]);\n}}\n\
             static void put_{number}({ty} *to, long at, unsigned value)\n{{\n  W(to[at]) = (value >> 1) & 63;\n  if (value & 4)\n    W(to[at]) = 7;\n}}\n\
             static unsigned total_{number}(const {ty} *from, int count)\n{{\n  unsigned sum = 0;\n  for (int k = 0; k < count; k++)\n    sum += (unsigned)R(from[k]);\n  return sum;\n}}"
        );
    }
    let mut main_c = String::from(
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"shadow.h\"\n\
         extern int table[];\nextern unsigned counts[];\nstatic unsigned state;\n\
         static unsigned random_number(void)\n{\n  state ^= state << 13, state ^= state >> 17, state ^= state << 5;\n  return state;\n}\n\
         static void fill(void)\n{\n  state = 12345;\n  for (int w = 0; w < ARENAS; w++)\n    for (int t = 0; t < ARENA_BYTES; t++)\n      arena[w][t] = random_number() & 63;\n}\n\
         #define NAME(k) shadow_##k\n#include \"loops.h\"\n",
    );
    let mut calls = String::new();
    let mut loops = Vec::new();
    for number in 0..count {
        let trips = *random.pick(&[-3, 0, 1, 2, 7, 33, 40, 40, 64, 100, 100, 1100]);
        let nested = random.below(4) == 0;
        let indirect = random.below(3) == 0;
        let mut generator =
            Generator { random, strict, arrays: Vec::new(), nested, indirect, labels: 0, carries: false };
        generator.place_arrays();
        let trips = if nested { trips.min(40) } else { trips };
        let (head, body, form) = if nested { generator.nest() } else { generator.plain(trips) };
        let contents = generator.contents(trips);
        let carries = generator.carries;
        let inner_trips = *generator.random.pick(&[0, 1, 5, 32, 40]);
        let i = *generator.random.pick(&["int", "int", "int", "long", "unsigned"]);
        // Downward loops and comparisons with n - 1 need a sign.
        let i = if head.contains("n - 1") || head.contains("i > 0") || trips < 0 { "int" } else { i };
        let parameters: String = generator.arrays.iter().map(|a| format!("{} *{}, ", a.ty, a.name)).collect();
        let arguments: String = generator
            .arrays
            .iter()
            .map(|a| format!("({} *)(arena[{}] + {}), ", a.ty, a.arena, a.offset))
            .collect();
        let _ = writeln!(
            loops_h,
            "__attribute__((noinline)) unsigned NAME({number})({parameters}int n, int m)\n{{"
        );
        let _ = writeln!(
            loops_h,
            "  {i} i;\n  int j, count = 3;\n  unsigned sum = 0, most = 0, greatest = 0, where = 0, t, last = 7, older = 9;"
        );
        let line = |text: &str| 1 + text.lines().count() as u64;
        let (declarations, keyword) = head.rsplit_once('\n').unwrap_or(("", head.as_str()));
        let _ = writeln!(loops_h, "  (void)j, (void)t, (void)m, (void)count, (void)last, (void)older;");
        if !declarations.is_empty() {
            let _ = writeln!(loops_h, "  {declarations}");
        }
        let first = line(&loops_h);
        let _ = writeln!(
            loops_h,
            "  {} {{\n    OUTER {body}\n  }}\n  return sum + most + greatest + 5u * where + (unsigned)count + 3u * last + older;\n}}",
            keyword.trim()
        );
        let inner_line = nested.then(|| {
            let at = loops_h.rfind("    for (j = ").expect("the inner loop was just written");
            line(&loops_h[..at])
        });
        let is_perfect = nested && body.starts_with("BEGIN_INNER") && body.ends_with("END_INNER");
        loops.push(Loop { line: first, inner_line, is_perfect, form, carries });
        let _ = writeln!(main_c, "unsigned plain_{number}({parameters}int n, int m);");
        let _ = writeln!(
            calls,
            "  {contents}\n  nested = {};\n  begin();\n  wanted = shadow_{number}({arguments}{trips}, {inner_trips});\n  \
             keep();\n  {contents}\n  found = plain_{number}({arguments}{trips}, {inner_trips});\n  report({number});",
            u32::from(nested)
        );
    }
    let _ = writeln!(
        main_c,
        "static unsigned char kept[ARENAS][ARENA_BYTES];\nstatic unsigned wanted, found;\n\
         static void begin(void)\n{{\n  for (int level = 0; level < LEVELS; level++)\n    shadow_forget(level);\n  inner_entries = inner_clean = inner_no_flow = inner_not_carried = inner_not_stale = 0, inner_iterations = 0;\n}}\n\
         static void keep(void)\n{{\n  for (int w = 0; w < ARENAS; w++)\n    memcpy(kept[w], arena[w], ARENA_BYTES);\n}}\n\
         static void report(int number)\n{{\n  int same = wanted == found;\n  for (int w = 0; w < ARENAS; w++)\n    same &= !memcmp(kept[w], arena[w], ARENA_BYTES);\n  \
         printf(\"%d %d %d %d %d %d %u %u %lu %lu %d %d %u %d %lu %d %d %lu\\n\", number, shadow[LEVEL_OUTER].conflict, shadow[LEVEL_MERGED].conflict, shadow[LEVEL_OUTER].conflict || shadow[LEVEL_OUTER].meet, shadow[LEVEL_OUTER].flow, shadow[LEVEL_MERGED].flow, shadow[LEVEL_OUTER].iteration, shadow[LEVEL_MERGED].iteration, inner_clean, inner_no_flow, same, shadow[LEVEL_SWAPPED].conflict || shadow[LEVEL_SWAPPED].meet, inner_iterations, shadow[LEVEL_OUTER].carried, inner_not_carried, shadow[LEVEL_OUTER].stale, shadow[LEVEL_MERGED].stale, inner_not_stale);\n}}\n\
         void make_arenas(void);\nint main(void)\n{{\n  make_arenas();\n{calls}  return 0;\n}}"
    );
    Program { loops_h, main_c, loops }
}
