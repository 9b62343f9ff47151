//! What kernels compute, and where it lies: subscripts, places, values and conditions.

use super::Kernel;

impl Kernel<'_> {
    /// A subscript from 0 to 13000.
    pub(super) fn subscript(&mut self) -> String {
        let v = self.variable();
        let (c, k) = (self.below(6), 2 + self.below(3));
        match self.below(33) {
            28 => format!("({v} < {c} ? {c} : {v} > {0} ? {0} : {v})", 60 * k),
            29 => format!("(x[{v}] < {0} ? x[{v}] : {0})", 50 * k + c),
            30 => format!("bounded(x[{v}] - {c}, 0, s)"),
            31 => format!("bounded(7 * {v} - 30, m, {})", 400 * k),
            32 => format!("bounded((int){v} - {c}, 0, 30) * {k} + (unsigned char)x[{v}]"),
            0..=4 => v.into(),
            5 | 6 => format!("{v} + {c}"),
            7 | 8 => format!("{k} * {v} + {c}"),
            9 => format!("{} - {v}", 2000 + c),
            10 => format!("x[{v}]"),
            11 => format!("x[{v}] + {c}"),
            12 => format!("x[x[{v}] & 2047]"),
            13 => format!("{v} % {}", 2 + 9 * c),
            14 => format!("{v} / {k}"),
            15 => format!("({v} - {c}{}) & 4095", if c % 2 == 0 { "u" } else { "" }),
            16 => format!("(unsigned char)({v} * {k} + {c})"),
            17 => format!("(unsigned short)({v} + {}u) & 2047", 65530 + c),
            18 => format!("({v} * 7919u >> {c}) & 2047"),
            19 => format!("{v} * s + {c}"),
            20 => format!("(size_t){v} * (size_t)m"),
            21 => format!("{v} + s * m"),
            22 => format!("({v} ^ {c}) + m"),
            23 => format!("64 + (int){v} - s"),
            24 if self.variables.len() > 1 => format!("i * 40 + {v}"),
            25 if self.variables.len() > 1 => format!("{v} * 40 + i % 40"),
            26 => format!("{v} << 1 | {}", c & 1),
            _ => format!("{v} + {}", 300 * c),
        }
    }

    /// An element of the kernel's own type.
    pub(super) fn element(&mut self) -> String {
        let subscript = self.subscript();
        if self.calm.is_some() {
            return if self.chance(5) { self.target() } else { format!("b[{subscript}]") };
        }
        match self.below(12) {
            0..=5 => format!("a[{subscript}]"),
            6..=9 => format!("b[{subscript}]"),
            10 => format!("*(a + ({subscript}))"),
            _ => format!("({subscript})[b]"),
        }
    }

    /// An element that is stored to.
    pub(super) fn target(&mut self) -> String {
        match (&self.calm, &self.variables[..]) {
            (Some(place), ["i"]) => format!("a[{place}]"),
            (Some(_), [.., inner]) => format!("a[40 * i + {inner}]"),
            _ => self.element(),
        }
    }

    /// An integer of some other type in memory, as something that can be stored to.
    pub(super) fn integer_place(&mut self) -> String {
        let (v, subscript) = (self.variable(), self.subscript());
        match self.below(15) {
            0 => format!("cells[({subscript}) & 511].value"),
            1 => format!("cells[({subscript}) & 511].parts[{v} % 3]"),
            2 => format!("o->cells[{v}].parts[{}]", self.below(3)),
            3 => format!("o->cells[({subscript}) & 511].inner.total"),
            4 => format!("o->data[{subscript}]"),
            5 => format!("rows[{v} & 63][({subscript}) & 63]"),
            6 => format!("o->table[{v} & 3][{v}]"),
            7 => format!("cells[{v}].tag"),
            8 => format!("local[{v} & 63]"),
            9 => "counter".into(),
            10 => format!("cells[({subscript}) & 511].shade"),
            11 => format!("o->cells[{v}].level"),
            12 => format!("cells[{v}].{}", self.pick(&["first", "second"])),
            13 => format!("cells[({subscript}) & 511].odd"),
            _ if self.own.floating => format!("(&cells[{v}])->last"),
            // The bytes of wider elements.
            _ => format!("((unsigned char *)a)[{subscript}]"),
        }
    }

    pub(super) fn floating_place(&mut self) -> String {
        let (v, subscript) = (self.variable(), self.subscript());
        match self.below(3) {
            0 => format!("cells[({subscript}) & 511].weights[{v} & 1]"),
            1 => format!("cells[{v}].inner.share"),
            _ => format!("o->cells[{v} + {}].weights[1]", self.below(3)),
        }
    }

    /// An integer of any type.
    pub(super) fn integer_atom(&mut self) -> String {
        match self.below(12) {
            0 => format!("{}", self.below(1000)),
            1 => format!("-{}", 1 + self.below(60)),
            2 => self.variable().into(),
            3 => self.pick(&["s", "m", "n", "bound"]).into(),
            4 if !self.other.floating => format!("c[{}]", self.subscript()),
            5 | 6 => self.integer_place(),
            7 => format!("x[{}]", self.variable()),
            8 if !self.known.is_empty() => {
                let number = self.below(self.known.len());
                self.known[number].clone()
            }
            9 => format!("TO_INT({})", self.floating(0)),
            10 => format!("0x{:x}ull", self.below(1 << 30) * 77_777),
            _ if !self.own.floating => self.element(),
            _ => self.variable().into(),
        }
    }

    /// An integer expression: unsigned arithmetic, or signed arithmetic on values too small to overflow.
    pub(super) fn integer(&mut self, deep: usize) -> String {
        let x = if deep == 0 { self.integer_atom() } else { self.integer(deep - 1) };
        if deep == 0 {
            return format!(
                "{}({x})",
                self.pick(&["(unsigned)", "(unsigned long long)", "(unsigned)(short)"])
            );
        }
        let y = self.integer(deep - 1);
        match self.below(20) {
            0..=2 => format!("({x} + {y})"),
            3 => format!("({x} - {y})"),
            4 => format!("({x} * {y})"),
            5 => format!("({x} {} {y})", self.pick(&["&", "|", "^"])),
            6 => format!("({x} >> ({y} & {}))", self.pick(&["31", "7"])),
            7 => format!("({x} << {})", self.below(20)),
            8 => format!("({x} {} ({y} | 1u))", self.pick(&["/", "%"])),
            9 => format!("(unsigned)((int)(signed char){x} * (signed char){y} - (short){x})"),
            10 => format!("(unsigned)((int){x} {} {})", self.pick(&["/", "%"]), self.pick(&["7", "-3", "1"])),
            11 => {
                // Signed division whose divisor may be anything but 0 and -1.
                format!(
                    "(unsigned)((short){x} / ((signed char){y} / 2 * 2 + 1 == -1 ? 3 : (signed char){y} / 2 * 2 + 1))"
                )
            }
            12 => {
                format!(
                    "(unsigned)((short){x} {} {})",
                    self.pick(&[">>", "<", ">=", "=="]),
                    self.pick(&["2", "5"])
                )
            }
            13 => format!("({} ? {x} : {y})", self.condition()),
            14 => format!("(~{x} + !{y})"),
            15 => {
                format!("(unsigned)({} {} {})", self.condition(), self.pick(&["&&", "||"]), self.condition())
            }
            16 => format!("(unsigned long long)(long)(int)(-{x})"),
            17 => format!("SMALLER({x}, {y})"),
            18 => format!("DOUBLED({x})"),
            _ => format!("({x} < {y} ? {x} : {y})"),
        }
    }

    /// A floating expression.
    pub(super) fn floating(&mut self, deep: usize) -> String {
        if deep == 0 {
            return match self.below(7) {
                0 => format!("{}.{}f", self.below(9), self.below(100)),
                1 => format!("{}e-{}", 1 + self.below(99), self.below(9)),
                2 if self.other.floating => format!("c[{}]", self.subscript()),
                3 => self.floating_place(),
                4 => format!("({})(short)({})", self.pick(&["float", "double"]), self.variable()),
                5 => "scale".into(),
                _ if self.own.floating => self.element(),
                _ => "scale".into(),
            };
        }
        let (x, y) = (self.floating(deep - 1), self.floating(deep - 1));
        match self.below(15) {
            0..=2 => format!("({x} + {y})"),
            3 => format!("({x} - {y})"),
            4 | 5 => format!("({x} * {y})"),
            6 => format!("({x} / {y})"),
            7 => format!("-({x})"),
            8 => format!("({x} {} {y} ? {x} : {y})", self.pick(&["<", ">=", "==", "!="])),
            9 => format!("{}({x})", self.pick(&["sqrt", "fabs", "floor", "sqrtf", "fabsf", "ceil"])),
            10 => format!("(double)({})", self.integer(1)),
            11 => format!("(float)(long)({})", self.integer(1)),
            12 => format!("SMALLER({x}, {y})"),
            13 => format!("DOUBLED({x})"),
            _ => format!("({x} + (float){y})"),
        }
    }

    pub(super) fn value(&mut self) -> String {
        let deep = 1 + self.below(2);
        if self.own.floating {
            self.floating(deep.min(2))
        } else {
            let integer = self.integer(deep);
            format!("({})({integer})", self.own.name)
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let v = self.variable();
        match self.below(6) {
            0 => format!("{v} % {} == {}", 2 + self.below(5), self.below(2)),
            1 => format!("(x[{v}] & {})", 1 << self.below(6)),
            2 => format!("{} > {}", self.floating(0), self.below(20)),
            3 => format!("!({})", self.integer_atom()),
            4 => format!("{v} != s"),
            _ => format!("({}) > 9", self.integer_atom()),
        }
    }
}
