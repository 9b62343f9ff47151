//! Loops that may be left before their count is up: by `break`, `return` or a jump, because a call ends the program, or because a second condition
//! stands beside the one that counts (`i < n && a[i]`). In such a loop, as it is looked at here, each way out is one statement
//! ([`StmtKind::Leave`]) and the head is the counting test alone.
//!
//! What it stands for: somebody finds out in which iteration the loop is left first, by what its conditions are made of ([`crate::analysis::slice`]),
//! without storing anything. The iterations before that one are a counted loop without ways out, and are judged and run like any other; the
//! program's own text goes on from there, beginning with the iteration that leaves. So all that a way out does (messages, clearing up) is done
//! by the program itself, and needs not be understood. A statement may also be taken for a way out where it is none: what that costs is speed.
//!
//! Not here: whether what decides can be found out before the loop runs (`verdict`), and finding it out (the runtime's `entry::search`).

use super::counted::counted;
use super::nest;
use crate::c::hir::*;
use std::collections::BTreeSet;

/// Functions that don't return. If some program has one of these names for a function that does, the loop is left where it needn't be.
const ENDS: [&str; 7] = ["exit", "_exit", "_Exit", "abort", "quick_exit", "__assert_fail", "__builtin_trap"];

/// Says of a call whether what it does is known.
pub type Known<'a> = &'a dyn Fn(&Callee) -> bool;

/// The loop with its ways out as single statements, and what does more than is known as ways out, too; `None`: it has none, or nothing but that.
pub fn marked(unit: &TranslationUnit, l: &LoopStmt, is_known: Known) -> Option<LoopStmt> {
    // What comes behind a test at the end is another iteration's, and nobody can begin with it.
    if l.keyword == LoopKeyword::Do {
        return None;
    }
    let mut marked = match counted(unit, l) {
        Ok(_) => l.clone(),
        Err(_) => counting(l).into_iter().find(|loop_| counted(unit, loop_).is_ok())?,
    };
    let mut labels = BTreeSet::new();
    nest::statements(&l.body, &mut |s| {
        if let StmtKind::Label { name, .. } = &s.kind {
            labels.insert(name.as_str());
        }
    });
    let body = Marker { unit, is_known, labels }.mark(&marked.body, false);
    *marked.body = body;
    (has_ways_out(&marked.body) && !matches!(marked.body.kind, StmtKind::Leave(_))).then_some(marked)
}

/// Whether a statement of a loop that is [`marked`] may leave it.
pub fn has_ways_out(s: &Stmt) -> bool {
    let mut found = false;
    nest::statements(s, &mut |s| found |= matches!(s.kind, StmtKind::Leave(_)));
    found
}

/// What a way out does.
pub fn ways_out(body: &Stmt) -> Vec<&Stmt> {
    let mut found = Vec::new();
    nest::statements(body, &mut |s| {
        if let StmtKind::Leave(what) = &s.kind {
            found.push(&**what);
        }
    });
    found
}

/// A loop with several conditions (`a && b && c`) as loops with one of them each, whose bodies begin with the others. Those in front of the one that stays are looked
/// at later than they were, so neither they nor that one may change anything.
pub fn counting(l: &LoopStmt) -> Vec<LoopStmt> {
    let mut conditions = Vec::new();
    if let Some(cond) = &l.cond {
        parts(cond, &mut conditions);
    }
    if conditions.len() < 2 || l.keyword == LoopKeyword::Do {
        return Vec::new();
    }
    let changes = |e: &&Expr| {
        let mut found = false;
        nest::expressions(e, &mut |e| {
            found |= nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
            found |= matches!(e.kind, ExprKind::Call { .. } | ExprKind::Opaque(_));
        });
        found
    };
    let movable = conditions.iter().take_while(|e| !changes(e)).count();
    let one = |number: usize| {
        let span = l.body.span;
        let stmt = |kind| Stmt { kind, span };
        let leave = |cond: &Expr| {
            let out = Box::new(stmt(StmtKind::Leave(Box::new(stmt(StmtKind::Break)))));
            let (cond, then) = (cond.clone(), Box::new(stmt(StmtKind::Empty)));
            stmt(StmtKind::If { cond, then, otherwise: Some(out) })
        };
        let others = conditions.iter().enumerate().filter(|(other, _)| *other != number);
        let mut list: Vec<Stmt> = others.map(|(_, cond)| leave(cond)).collect();
        list.push((*l.body).clone());
        let body = Box::new(stmt(StmtKind::Block(list)));
        LoopStmt { cond: Some(conditions[number].clone()), body, ..l.clone() }
    };
    let may_come_first = |number: &usize| *number == 0 || !changes(&conditions[*number]);
    (0..conditions.len()).take_while(|number| *number <= movable).filter(may_come_first).map(one).collect()
}

fn parts<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::LogicalAnd(a, b) => {
            parts(a, out);
            parts(b, out);
        }
        _ => out.push(e),
    }
}

struct Marker<'a> {
    unit: &'a TranslationUnit,
    is_known: Known<'a>,
    /// Those in the loop.
    labels: BTreeSet<&'a str>,
}

impl Marker<'_> {
    /// `inner`: whether a `break` leaves something in the loop only.
    fn mark(&self, s: &Stmt, inner: bool) -> Stmt {
        let leave = || Stmt { kind: StmtKind::Leave(Box::new(s.clone())), span: s.span };
        let is_out = |s: &Stmt| matches!(s.kind, StmtKind::Leave(_));
        let marked = |s: &Stmt, inner| Box::new(self.mark(s, inner));
        let kind = match &s.kind {
            StmtKind::Return(_) => return leave(),
            StmtKind::Break if !inner => return leave(),
            StmtKind::Goto(Some(label)) if !self.labels.contains(label.as_str()) => return leave(),
            _ if self.does_more(s) => return leave(),
            StmtKind::Block(list) => {
                let mut list: Vec<Stmt> = list.iter().map(|s| self.mark(s, inner)).collect();
                if let Some(out) = list.iter().position(is_out) {
                    // All that stands in front of it belongs to it, unless something leads around it.
                    if !list[..out].iter().any(jumps) {
                        return leave();
                    }
                    list.truncate(out + 1);
                }
                StmtKind::Block(list)
            }
            StmtKind::If { cond, then, otherwise } => {
                let then = marked(then, inner);
                let otherwise = otherwise.as_ref().map(|s| marked(s, inner));
                if is_out(&then) && otherwise.as_deref().is_some_and(is_out) {
                    return leave();
                }
                StmtKind::If { cond: cond.clone(), then, otherwise }
            }
            StmtKind::Loop(l) => StmtKind::Loop(LoopStmt { body: marked(&l.body, true), ..l.clone() }),
            StmtKind::Switch { cond, body } => {
                StmtKind::Switch { cond: cond.clone(), body: marked(body, true) }
            }
            StmtKind::Case { value, body } => StmtKind::Case { value: *value, body: marked(body, inner) },
            StmtKind::Label { name, body } => {
                StmtKind::Label { name: name.clone(), body: marked(body, inner) }
            }
            _ => return s.clone(),
        };
        Stmt { kind, span: s.span }
    }

    /// Whether a statement itself, without those in it, ends the program or does what isn't known.
    fn does_more(&self, s: &Stmt) -> bool {
        let mut more = matches!(s.kind, StmtKind::Opaque(_));
        let init = match &s.kind {
            StmtKind::Loop(l) => l.init.as_slice(),
            _ => &[],
        };
        for e in init.iter().chain([s]).flat_map(nest::direct_expressions) {
            nest::expressions(e, &mut |e| {
                more |= match &e.kind {
                    ExprKind::Call { callee, .. } => {
                        ends_program(self.unit, callee) || !(self.is_known)(callee)
                    }
                    ExprKind::Opaque(_) => true,
                    _ => false,
                };
            });
        }
        more
    }
}

/// Whether a function is called that doesn't return, if it is what its name says.
pub fn ends_program(unit: &TranslationUnit, callee: &Callee) -> bool {
    match callee {
        Callee::Named(id) => ENDS.contains(&unit.var(*id).name.as_str()),
        Callee::Builtin(name) => {
            ENDS.iter().any(|ends| name == ends || Some(name.as_str()) == ends.strip_prefix("__builtin_"))
        }
        Callee::Pointer(_) => false,
    }
}

/// Whether a statement may be left by a jump, but for those out of the loop.
fn jumps(s: &Stmt) -> bool {
    let mut found = false;
    nest::statements(s, &mut |s| {
        found |= matches!(
            s.kind,
            StmtKind::Continue
                | StmtKind::Break
                | StmtKind::Goto(_)
                | StmtKind::Label { .. }
                | StmtKind::Case { .. }
        );
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::dialect::Dialect;
    use crate::loops::libm;

    /// The marked form of the first loop in a function with this loop, as lines.
    fn marked_text(text: &str) -> Option<String> {
        let text = format!(
            "void exit(int); int printf(const char *, ...);\n\
             int f(int n, const int *a, int *b, int x) {{ int i, j, s = 0; {text}\n return s; out: return -1; }}"
        );
        let mut unit = crate::c::lower_unit(&text, &Dialect::default());
        crate::loops::counted::add_counters(&mut unit);
        let loops = nest::loops(&unit.functions[0]);
        let is_known = |callee: &Callee| libm::computes(&unit, &Default::default(), callee);
        let marked = marked(&unit, loops[0].the_loop, &is_known)?;
        Some(crate::c::dump::statement(&unit, &marked.body))
    }

    fn count(text: &str, what: &str) -> usize {
        marked_text(text).map_or(0, |text| text.matches(what).count())
    }

    #[test]
    fn ways_out_are_single_statements() {
        for (text, ways) in [
            ("for (i = 0; i < n; i++) if (a[i] == x) return i;", 1),
            ("for (i = 0; i < n; i++) { if (a[i] == x) break; b[i] = 1; }", 1),
            ("for (i = 0; i < n; i++) { if (a[i] == x) goto out; b[i] = 1; }", 1),
            ("for (i = 0; i < n; i++) { if (a[i] < 0) { printf(\"no\"); exit(1); } b[i] = 1; }", 1),
            ("for (i = 0; i < n; i++) { if (a[i] < 0) return 1; else if (a[i] > 9) return 2; b[i] = 1; }", 2),
            ("for (i = 0; i < n; i++) { if (a[i] < 0) { if (x) return 1; else return 2; } b[i] = 1; }", 1),
            ("for (i = 0; i < n && a[i] != x; i++) b[i] = 1;", 1),
            ("i = 0; while (i < n && a[i] && a[i] != x) i++;", 2),
            ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (a[i * n + j] == x) return i;", 1),
            ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (a[i * n + j] == x) goto out;", 1),
        ] {
            assert_eq!(count(text, "leave"), ways, "{text}");
        }
        // What leads around it stays in front of it.
        let text = "for (i = 0; i < n; i++) { if (a[i]) { if (b[i]) continue; return 1; } b[i] = 1; }";
        assert_eq!((count(text, "leave"), count(text, "continue")), (1, 1));
        let marked = marked_text(text).unwrap();
        assert!(marked.find("continue") < marked.find("leave"), "{marked}");
    }

    #[test]
    fn what_is_no_loop_with_ways_out() {
        for text in [
            "for (i = 0; i < n; i++) b[i] = 1;",
            "for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (a[j] == x) break;",
            "for (i = 0; i < n; i++) { b[i] = 1; break; }",
            "for (i = 0; i < n; i++) switch (a[i]) { case 1: break; default: b[i] = 1; }",
            "i = 0; do { if (a[i] == x) break; b[i] = 1; } while (++i < n);",
            "for (i = 0; a[i] && b[i]; i++) s++;",
            // What is looked at before something is counted would be looked at behind it.
            "while (a[n] && n--) b[n] = 1;",
            "while (a[i++] && i < n) b[i] = 1;",
        ] {
            assert_eq!(marked_text(text), None, "{text}");
        }
    }
}
