//! What kernels do: updates, copies, ways out, reductions and inner loops.

use super::Kernel;

impl Kernel<'_> {
    /// Something that is filled or copied as a whole.
    pub(super) fn block(&mut self) -> String {
        let (to, from) = (self.target(), self.element());
        let byte = if self.own.floating { "0" } else { self.pick(&["0", "255", "7"]) };
        let few = 1 + self.below(9);
        match self.below(if self.calm.is_some() { 9 } else { 2 }) {
            0 => format!("memcpy(&{to}, &{from}, sizeof {to});"),
            1 => format!("memset(&{to}, {byte}, sizeof {to});"),
            2 => "memcpy(&cells[i], &cells[512 + (x[i] & 255)], sizeof *cells);".into(),
            3 => format!("memset(cells + i, {}, sizeof *cells);", self.pick(&["0", "7"])),
            4 => format!("memset(cells[i].parts, {}, sizeof cells[i].parts);", self.pick(&["0", "255", "7"])),
            5 => "memcpy(cells[i].weights, cells[512 + (i & 255)].weights, sizeof cells[i].weights);".into(),
            6 => format!("memset(rows[i & 63], {}, {few} * sizeof **rows);", self.pick(&["0", "255", "7"])),
            7 => format!("memset(rows[i & 63], (int)(x[i] & 127), {few} * sizeof **rows);"),
            _ => "memcpy(rows[i & 63], rows[(i + 1) & 63], (unsigned long)(i & 7) * sizeof **rows);".into(),
        }
    }

    pub(super) fn update(&mut self) -> String {
        if self.chance(9) {
            return self.block();
        }
        let (element, value) = (self.target(), self.value());
        if self.calm.is_some() && self.chance(4) {
            let (integer, floating, part) = (self.integer(2), self.floating(1), self.below(3));
            return match self.below(12) {
                6 => "cells[i] = cells[512 + (x[i] & 255)];".into(),
                7 => format!("cells[i] = turned(cells[512 + ((i * 7) & 511)], (int)({integer}));"),
                8 => format!(
                    "cells[i] = (struct cell){{.tag = 3, .parts = {{[1] = (short)({integer}), {part}}}, .weights = {{{floating}, cells[i].weights[0]}}}};"
                ),
                9 => format!("cells[i].level {}= (int)({integer});", self.pick(&["", "+", "^"])),
                10 => format!("o->cells[i].shade {};", self.pick(&["++", "--", "<<= 1", "|= 5"])),
                11 => format!(
                    "{{ struct cell cell; cell.odd = ({integer}) > 0; cell.level = cells[i].level; cell.shade = cell.level + cell.odd; cells[i].first = cell.shade; cells[i].second ^= cell.level; }}"
                ),
                0 => format!("cells[i].value = (int)({integer});"),
                1 => format!("cells[i].parts[{part}] ^= (short)({integer});"),
                2 => format!("o->cells[i].inner.total += (long)(short)({integer});"),
                3 => format!("cells[i].weights[{}] = {floating};", part & 1),
                4 => format!("cells[x[i] & 511].last |= (unsigned char)({integer});"),
                _ => format!("rows[i & 63][{part}] = (int)({integer});"),
            };
        }
        let operators: &[&str] = if self.own.floating { &["+", "-", "*", "/"] } else { &["^", "|", "&"] };
        match self.below(10) {
            0..=3 => format!("{element} = {value};"),
            4 => format!("EXCHANGE({element}, {});", self.target()),
            5 | 6 => format!("{element} {}= {value};", self.pick(operators)),
            7 => format!("{} = (int)({});", self.integer_place(), self.integer(2)),
            _ => format!("{} = {};", self.floating_place(), self.floating(1)),
        }
    }

    /// Whether a statement with scalars of its own may be written here: only once per loop, and not in loops inside.
    pub(super) fn spend(&mut self, number: usize) -> bool {
        let free = self.variables == ["i"] && !self.spent.contains(&number);
        if free {
            self.spent.push(number);
        }
        free
    }

    pub(super) fn statement(&mut self) {
        let number = self.below(38);
        match number {
            0..=8 => {
                let update = self.update();
                self.line(&update);
            }
            9 | 10 => {
                let (condition, update) = (self.condition(), self.update());
                self.line(&format!("if ({condition}) {{"));
                self.line(&format!("  {update}"));
                if self.chance(2) {
                    let update = self.update();
                    self.line("} else {");
                    self.line(&format!("  {update}"));
                }
                self.line("}");
            }
            11..=14 => self.reduction(),
            15 => {
                self.fresh += 1;
                let name = format!("t{}", self.fresh);
                let integer = self.integer(2);
                let ty = self.pick(&["int", "unsigned", "long", "unsigned char", "short"]);
                self.line(&format!("{ty} {name} = ({ty})({integer});"));
                self.known.push(name);
            }
            16 if self.spend(16) => {
                let (integer, floating) = (self.integer(1), self.floating(1));
                self.line(&format!("last = (int){integer};"));
                self.line(&format!("last_float = {floating};"));
                self.known.push("last".into());
            }
            17 if self.calm.is_none() && self.spend(17) => {
                let (condition, integer) = (self.condition(), self.integer(1));
                self.line(&format!("if ({condition}) sometimes = (int){integer};"));
            }
            18 if self.spend(18) => {
                let value = self.value();
                let step = self.pick(&[
                    "*walk++ = V;",
                    "*++walk = V;",
                    "*walk = V; walk += 2;",
                    "walk += 3; walk[-1] = V;",
                    "*walk = V; walk += s;",
                    "if (x[i] & 1) *walk++ = V;",
                ]);
                self.line(&step.replace('V', &value));
            }
            19 if self.spend(19) => {
                let element = self.target();
                let own = self.own.name;
                let step =
                    self.pick(&["E = (T)*reader++;", "E = (T)*--reader;", "E = (T)reader[1]; reader += 2;"]);
                // Floating values are not converted to integers just so.
                if self.own.floating || !self.other.floating {
                    self.line(&step.replace('E', &element).replace('T', own));
                }
            }
            20 | 21 if self.spend(20) => {
                let value = self.value();
                let step = self.pick(&[
                    "a[count] = V; count += 2;",
                    "count++; a[count & 4095] = V;",
                    "a[count++] = V;",
                    "a[4000 - ++count] = V;",
                    "b[narrow++] = V;",
                    "narrow -= 3; b[narrow] = V;",
                    "down -= s; a[down & 8191] = V;",
                    "if (s < 3) count++; a[count] = V;",
                    "b[mark] = V; mark = mark + 5;",
                ]);
                self.line(&step.replace('V', &value));
            }
            22 if self.calm.is_none() && self.spend(22) => {
                let integer = self.integer(1);
                self.line(&format!("carried = carried * 3u + (unsigned)({integer});"));
            }
            23 if self.spend(23) => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) continue;"));
            }
            24 if self.calm.is_none() => {
                let (v, value) = (self.variable(), self.integer(1));
                self.line(&format!(
                    "{{ int *row = rows[{v} & 63]; row[{v} & 31] ^= (int){value}; row[3] |= 1; }}"
                ));
            }
            25 if self.calm.is_none() => {
                let (v, value) = (self.variable(), self.integer(1));
                self.line(&format!("{{ struct cell *cell = &o->cells[{v}]; cell->value = (int){value}; cell->last++; cell->parts[1] ^= 3; }}"));
            }
            26 | 27 => self.inner_loop(),
            28 if self.calm.is_none() => {
                let (v, to, from) = (self.variable(), self.subscript(), self.subscript());
                let condition = self.condition();
                self.line(&format!("{{ struct cell cell = cells[({from}) & 511];"));
                self.line(&format!("  cells[({to}) & 511] = {condition} ? o->cells[{v}] : cells[{v} & 63];"));
                self.line(&format!("  if ({condition}) cells[{v} & 255] = cell; }}"));
            }
            29 if self.calm.is_none() => {
                let (v, from, by) = (self.variable(), self.subscript(), self.integer(1));
                let part = self.below(3);
                self.line(&format!(
                    "{{ const struct cell cell = turned(turned(cells[({from}) & 511], (int){by}), {part}), other = cell;"
                ));
                self.line(&format!("  cells[{v} & 511].value ^= (int)weighed(other, {part});"));
                self.line(&format!("  cells[({from}) & 511] = cell; }}"));
            }
            // There are cells enough for one loop of a function.
            30 if !self.lines.contains("cell_walk") && self.spend(30) => {
                self.line("*cell_walk++ = *cell_reader++;");
            }
            33 if self.spend(33) => {
                let (way, integer) = (self.way(), self.integer(1));
                let out =
                    self.pick(&["break;", "{ mark += 7; break; }", "{ last = (int)V; sometimes++; break; }"]);
                self.line(&format!("if ({way}) {}", out.replace('V', &format!("({integer})"))));
            }
            34 if self.calm.is_some() || self.chance(3) => {
                if self.way_out.is_none() {
                    self.fresh += 1;
                    self.way_out = Some(format!("out{}", self.fresh));
                }
                let (way, label) = (self.way(), self.way_out.clone().unwrap_or_default());
                let does = self.pick(&["", "carried ^= count; ", "printf(\"%u\\n\", count); "]);
                self.line(&format!("if ({way}) {{ {does}goto {label}; }}"));
            }
            36 => {
                let (element, integer, other) = (self.target(), self.integer(1), self.integer(1));
                let condition = match self.below(4) {
                    0 => format!("if ({}) ", self.condition()),
                    _ => String::new(),
                };
                let (at, ty) = (self.below(3), self.own.name);
                self.line(&format!("scratch[{at}] = (unsigned)({integer});"));
                self.line(&format!("{condition}scratch[3] = scratch[{at}] ^ (unsigned)({other});"));
                self.line(&format!("{element} = ({ty})(short)(scratch[{at}] - scratch[3]);"));
            }
            35 if self.chance(3) => {
                let (way, integer) = (self.way(), self.integer(1));
                let given = self.pick(&["count", "V"]).replace('V', &format!("(unsigned)({integer})"));
                self.line(&format!("if ({way}) note({given});"));
            }
            _ => {
                let update = self.update();
                self.line(&update);
            }
        }
    }

    /// When a loop is left: not so often that nothing is left of it.
    pub(super) fn way(&mut self) -> String {
        let range = if self.chance(3) { 2048 } else { 300 };
        let at = self.below(range);
        match self.below(6) {
            0 | 1 => format!("x[i] == {at}"),
            2 => format!("x[i] > {}", 100 + at),
            3 => format!("(int)i == {at}"),
            4 => format!("c[i] == c[{at}] && x[i] > {at}"),
            _ => {
                let condition = self.condition();
                format!("x[i] % 61 == {} && {condition}", at % 61)
            }
        }
    }

    pub(super) fn reduction(&mut self) {
        if !self.spend(100) && !self.spend(101) {
            return;
        }
        match self.below(5) {
            0 => return self.extreme(),
            1 => return self.in_memory(),
            _ => {}
        }
        let number = self.spent.len();
        let integer = self.integer(1 + number % 2);
        let kind = self.below(14);
        let ty = ["unsigned", "int", "long", "unsigned long long", "unsigned char", "short"][kind % 6];
        self.fresh += 1;
        let name = format!("r{}", self.fresh);
        let start = self.below(100);
        // Not among the known ones: a loop that reads it is no reduction.
        self.declarations.push((format!("{ty} {name} = {start};"), name.clone()));
        let signed = matches!(ty, "int" | "long");
        let wide = if ty == "long" { "unsigned long" } else { "unsigned" };
        let text = match self.below(12) {
            0..=2 if signed => format!("{name} = ({ty})(({wide}){name} + ({wide})({integer}));"),
            0 => format!("{name} += {integer};"),
            1 => format!("{name} -= {integer};"),
            2 => format!("{name} = ({ty})({name} + (unsigned char)({integer}));"),
            3 if signed => format!("{name} = (unsigned char)(({wide}){name} + ({wide})({integer}));"),
            3 => format!("{name} *= ({ty})({integer}) | 1;"),
            4 => format!("{name} &= ({ty})({integer}) | 3;"),
            5 => format!("{name} |= {integer};"),
            6 => format!("{name} ^= {integer};"),
            7 => format!("if (({ty})({integer}) > {name}) {name} = ({ty})({integer});"),
            8 => format!("{{ {ty} t = ({ty})({integer}); {name} = t < {name} ? t : {name}; }}"),
            9 => format!("{{ {ty} t = ({ty})({integer}); if ({name} <= t) {{ {name} = t; }} }}"),
            10 if ty != "short" => {
                let condition = self.condition();
                format!("if ({condition}) {name}++;")
            }
            _ => format!("{name} = ({ty})({integer}) ^ {name};"),
        };
        self.line(&text);
    }

    /// A minimum or maximum, with what is noted beside it; among these, some that only look like one.
    pub(super) fn extreme(&mut self) {
        self.fresh += 1;
        let (name, at) = (format!("r{}", self.fresh), format!("p{}", self.fresh));
        let floating = self.chance(2);
        let ty = match floating {
            true => self.pick(&["double", "float"]),
            false => self.pick(&["int", "unsigned", "short", "long", "unsigned char"]),
        };
        let mut value = || {
            let value = if floating { self.floating(1) } else { self.integer(1) };
            format!("({ty})({value})")
        };
        let (t, u) = (value(), value());
        let start = if floating && self.chance(6) { "NAN".to_string() } else { self.below(90).to_string() };
        let declared = (format!("{ty} {name} = {start};"), name.clone());
        if floating {
            self.reals.push(declared)
        } else {
            self.declarations.push(declared)
        }
        self.declarations.push((format!("int {at} = -4;"), at.clone()));
        let (relation, condition) = (self.pick(&["<", "<=", ">", ">="]), self.condition());
        let text = self.pick(&[
            "if (t REL R) { R = t; P = (int)i; }",
            "if (R REL t) { P = (int)i * 3; R = t; }",
            "if (R REL t) R = t, P = x[i];",
            "R = t REL R ? t : R;",
            "R = R REL t ? R : t;",
            "if (!(R REL t)) R = t;",
            "if (!(t REL R)) { R = t; P = (int)i; }",
            "if ((CONDITION) && t REL R) { R = t; P = (int)i; }",
            "if (t REL R) { R = t; P = 1; } if (u REL R) { R = u; P = (int)i; }",
            "if (t REL R) { P = (int)i + (R > u); R = t; }",
            "if (t REL R) { R = t; P = (int)i; } else { P++; }",
            "if (t REL R) R = u;",
        ]);
        let text = text.replace("CONDITION", &condition).replace("REL", relation).replace('R', &name);
        self.line(&format!("{{ {ty} t = {t}, u = {u}; (void)u; {} }}", text.replace('P', &at)));
    }

    /// A reduction in memory, at an address that the loop may know not to change; what else it does may be there, too.
    pub(super) fn in_memory(&mut self) {
        let integer = self.integer(1);
        let place = self.pick(&[
            "counter",
            "counter",
            "local[5]",
            "local[m]",
            "o->cells[3].value",
            "cells[19].inner.total",
            "o->cells[s].last",
            "cells[m].parts[1]",
            "indices[12300]",
            "*rows[3]",
            "a[9000 + m]",
            "b[s]",
        ]);
        if (place.starts_with('a') || place.starts_with('b')) && self.own.floating {
            let relation = self.pick(&["<", ">"]);
            self.line(&format!("if (c[i & 255] {relation} {place}) {place} = c[i & 255];"));
            return;
        }
        let condition = self.condition();
        let text = self.pick(&[
            "P ^= V;",
            "P |= V;",
            "P = (__typeof__(P))((unsigned long)P + (unsigned long)(V));",
            "if (CONDITION) P ^= V;",
            "if (x[i] > P) P = x[i];",
            "P = P < x[i] ? P : x[i];",
            "if (x[i] >= P) { P = x[i]; local[7] = (int)i; }",
            "P &= V;",
        ]);
        let text = text.replace("CONDITION", &condition).replace('V', &format!("({integer})"));
        self.line(&text.replace('P', place));
    }

    pub(super) fn inner_loop(&mut self) {
        if self.depth > 3 {
            return;
        }
        let v = self.variable();
        let rounds = 2 + self.below(5);
        let name = ["j", "k", "l"][self.depth - 2];
        let (head, tail, step) = match self.below(12) {
            0..=2 => (format!("for (int {name} = 0; {name} < {rounds}; {name}++) {{"), "}", ""),
            3 => (format!("for (int {name} = 0; {name} < m - 1; {name}++) {{"), "}", ""),
            4 => (format!("for (int {name} = (int){v} % 5; {name} < {rounds}; {name} += 2) {{"), "}", ""),
            5 => (format!("for (int {name} = {rounds}; {name} > 0; {name}--) {{"), "}", ""),
            6 => (format!("for (unsigned char {name} = 250; {name} != {rounds}; {name}++) {{"), "}", ""),
            7 => (format!("for (unsigned {name} = 0; {name} <= (unsigned)({v} & 7); {name}++) {{"), "}", ""),
            8 => (
                format!("for (unsigned short {name} = 1; {name} != {}; {name} += 2) {{", 1 + 2 * rounds),
                "}",
                "",
            ),
            9 => (
                format!("{{ int {name} = 0; while ({name} < {rounds} && x[{v} + {name}] != 77) {{"),
                "} }",
                "S++;",
            ),
            10 => (format!("{{ int {name} = 0; do {{"), "} while (S < m); }", "S += 2;"),
            _ => (format!("{{ int {name} = 0; for (;;) {{"), "} }", "if (++S > 3) break;"),
        };
        self.line(&head);
        self.depth += 1;
        self.variables.push(name);
        let known = self.known.len();
        if step.is_empty() && self.chance(4) {
            let word = self.pick(&["break", "continue"]);
            let condition = self.condition();
            self.line(&format!("if ({condition}) {word};"));
        }
        for _ in 0..1 + self.below(2) {
            self.statement();
        }
        if !step.is_empty() {
            self.line(&step.replace('S', name));
        }
        self.known.truncate(known);
        self.variables.pop();
        self.depth -= 1;
        self.line(&tail.replace('S', name));
    }
}
