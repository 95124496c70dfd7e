//! Changes of the lines of a module's text, and their wording in CUDA C++.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// An edit of a line of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::advice) enum LineEdit {
    /// Adds an instruction before the line's own.
    Before(Cow<'static, str>),
    /// Adds an instruction behind the line's own.
    After(Cow<'static, str>),
    /// Replaces the instruction: by an access with an order and a scope, a wider fence, or nothing. The access is given
    /// where a load or a store is made strong.
    Instead(String, Option<MadeStrong>),
}

impl LineEdit {
    fn before(&self) -> Option<&str> {
        match self {
            LineEdit::Before(text) => Some(text.as_ref()),
            LineEdit::After(_) | LineEdit::Instead(..) => None,
        }
    }

    fn after(&self) -> Option<&str> {
        match self {
            LineEdit::After(text) => Some(text.as_ref()),
            LineEdit::Before(_) | LineEdit::Instead(..) => None,
        }
    }

    fn instead(&self) -> Option<&str> {
        match self {
            LineEdit::Instead(text, _) => Some(text),
            LineEdit::Before(_) | LineEdit::After(_) => None,
        }
    }
}

/// An access that is made strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::advice) enum MadeStrong {
    Load,
    Store,
}

impl MadeStrong {
    /// The order of a load or store that synchronizes.
    pub(super) fn order(self) -> &'static str {
        match self {
            MadeStrong::Load => "acquire",
            MadeStrong::Store => "release",
        }
    }

    /// The access with this order, in words.
    pub(super) fn words(self, order: &str) -> String {
        let (does, call) = match self {
            MadeStrong::Load => ("read", "load("),
            MadeStrong::Store => ("write", "store(…, "),
        };
        format!("{does} it by cuda::atomic_ref<…, cuda::thread_scope_device>(…).{call}cuda::memory_order_{order})")
    }
}

/// Makes accesses that were given an order relaxed; returns what that is in words, and `None` where other edits are.
pub(in crate::advice) fn relax(lines: &mut [(u32, LineEdit)]) -> Option<String> {
    let mut words = None;
    for (_, edit) in lines {
        let LineEdit::Instead(text, Some(access)) = edit else { return None };
        let order = access.order();
        words = Some(MadeStrong::words(*access, "relaxed"));
        *text = text.replacen(&format!(".{order}."), ".relaxed.", 1);
    }
    words
}

/// Whether some line is changed in the same way by both.
pub(in crate::advice) fn clash(own: &[(u32, LineEdit)], others: &[(u32, LineEdit)]) -> bool {
    let is_like = |one: &LineEdit, other: &LineEdit| std::mem::discriminant(one) == std::mem::discriminant(other);
    own.iter().any(|(line, edit)| others.iter().any(|(also, with)| line == also && is_like(edit, with)))
}

/// The text with these changes.
pub(super) fn apply<'e>(text: &str, edits: impl Iterator<Item = &'e (u32, LineEdit)>) -> String {
    let mut by_line: BTreeMap<usize, Vec<&LineEdit>> = BTreeMap::new();
    for (line, edit) in edits {
        by_line.entry(*line as usize).or_default().push(edit);
    }
    let mut changed = String::with_capacity(text.len() + 64 * by_line.len());
    for (number, line) in (1..).zip(text.lines()) {
        match by_line.get(&number) {
            None => changed += line,
            // On the same line, so that all others keep their numbers.
            Some(edits) => {
                let of = |wanted: fn(&LineEdit) -> Option<&str>| edits.iter().find_map(|edit| wanted(edit));
                let own = of(LineEdit::instead).unwrap_or_else(|| statement(line));
                changed +=
                    &[of(LineEdit::before).unwrap_or_default(), own, of(LineEdit::after).unwrap_or_default()].join(" ");
            }
        }
        changed.push('\n');
    }
    changed
}

/// The line without its comment.
fn statement(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim_end()
}

/// An instruction's guard with the white space around it, the words of its operation between the points, and the rest;
/// `None` where the line is not one instruction alone.
pub(super) fn parts(line: &str) -> Option<(&str, Vec<&str>, &str)> {
    let statement = statement(line);
    let alone = statement.ends_with(';') && statement.matches(';').count() == 1;
    if !alone || statement.contains(['{', '"']) && !statement.contains('[') || statement.contains("/*") {
        return None;
    }
    let start = statement.len() - statement.trim_start().len();
    let body = &statement[start..];
    let guard = if body.starts_with('@') { body.find(char::is_whitespace)? + 1 } else { 0 };
    let guard = start + guard + (body[guard..].len() - body[guard..].trim_start().len());
    let operation = &statement[guard..];
    let end = operation.find(|letter: char| letter.is_whitespace() || letter == ';')?;
    let words = &operation[..end];
    // A label would stand in front of it.
    if words.contains(':') && !words.contains("::") || words.starts_with(['$', '.']) {
        return None;
    }
    Some((&statement[..guard], words.split('.').collect(), &operation[end..]))
}

/// The words of PTX for orders and for scopes (PTX ISA 8.8, 8.4 "Operation types", 8.5 "Scope").
const ORDERS: [&str; 6] = ["weak", "volatile", "relaxed", "acquire", "release", "acq_rel"];
const SCOPES: [&str; 4] = ["cta", "cluster", "gpu", "sys"];
/// What an access with an order has no place for: hints to the caches, and the promise that memory is read-only.
const HINTS: [&str; 9] = ["nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "relaxed"];

/// The line with another order and scope for its access; `None` where it is not one instruction alone, or of a vector.
pub(super) fn with_strength(line: &str, order: &str, scope: &str) -> Option<String> {
    let (guard, words, rest) = parts(line)?;
    if words.iter().any(|word| ["v2", "v4", "v8"].contains(word)) {
        return None;
    }
    let is_kept = |word: &&&str| {
        !ORDERS.contains(word) && !SCOPES.contains(word) && !HINTS.contains(word) && !word.starts_with('L')
    };
    let (operation, others) = words.split_first()?;
    let others: Vec<&str> = others.iter().filter(is_kept).copied().collect();
    Some(format!("{guard}{operation}.{order}.{scope}.{}{rest}", others.join(".")))
}

/// The line with another scope, of an access or a fence that names the scope of a block; `None` where it does not.
pub(super) fn wider(line: &str) -> Option<String> {
    let (guard, words, rest) = parts(line)?;
    let of_device = if words.first() == Some(&"membar") { "gl" } else { "gpu" };
    let widened: Vec<&str> = words.iter().map(|&word| if word == "cta" { of_device } else { word }).collect();
    (widened != words).then(|| format!("{guard}{}{rest}", widened.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strength_of_an_access_is_written_anew() {
        let cases = [
            ("\tld.global.u32 \t%r1, [%rd1];", "\tld.acquire.gpu.global.u32 \t%r1, [%rd1];"),
            ("ld.volatile.global.u32 %r1, [%rd1]; // flag", "ld.acquire.gpu.global.u32 %r1, [%rd1];"),
            ("@!%p1 ld.global.nc.L1::evict_last.f32 %f1, [a];", "@!%p1 ld.acquire.gpu.global.f32 %f1, [a];"),
            ("ld.relaxed.cta.global.cg.u32 %r1, [a];", "ld.acquire.gpu.global.u32 %r1, [a];"),
        ];
        for (line, expected) in cases {
            assert_eq!(with_strength(line, "acquire", "gpu").as_deref(), Some(expected));
        }
        for line in [
            "L1: ld.global.u32 %r1, [a];",
            "ld.u32 %r1, [a]; st.u32 [a], %r1;",
            "ld.global.v2.u32 {%r1, %r2}, [a];",
            "{",
        ] {
            assert_eq!(with_strength(line, "acquire", "gpu"), None, "{line}");
        }
    }

    #[test]
    fn the_scope_of_a_block_becomes_the_devices() {
        assert_eq!(wider("\tmembar.cta;").as_deref(), Some("\tmembar.gl;"));
        assert_eq!(wider("fence.acq_rel.cta;").as_deref(), Some("fence.acq_rel.gpu;"));
        assert_eq!(
            wider("@%p atom.cta.global.add.u32 %r1, [a], 1;").as_deref(),
            Some("@%p atom.gpu.global.add.u32 %r1, [a], 1;")
        );
        assert_eq!(wider("membar.gl;"), None);
    }

    #[test]
    fn changes_of_one_line_go_together() {
        let changes = [
            vec![(2, LineEdit::After("d;".into())), (3, LineEdit::Before("d;".into()))],
            vec![(2, LineEdit::Before("b;".into()))],
            vec![(2, LineEdit::Instead("c;".into(), None))],
        ];
        let changed = apply("a;\nx; // y\ne;", changes.iter().flatten());
        assert_eq!(changed.split_whitespace().collect::<Vec<_>>(), ["a;", "b;", "c;", "d;", "d;", "e;"]);
        assert!(clash(&changes[0], &[(3, LineEdit::Before("f;".into()))]));
        assert!(!clash(&changes[0], &changes[1]));
    }
}
