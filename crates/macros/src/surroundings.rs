//! Whether a function stands in an `impl` or `trait`.
//!
//! An attribute sees the function alone, and what it writes for one of a module, with a type beside it, cannot stand in an
//! `impl`. So the source says it: the braces that are open where the function begins.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// Whether the source at this place is directly in an `impl` or `trait`; `false` where there is no source to look at.
pub fn is_in_impl(at: proc_macro::Span) -> bool {
    let Some(path) = at.local_file() else { return false };
    let (line, column) = (at.line(), at.column());
    source(path).is_some_and(|text| innermost(&text, line, column) == Some(true))
}

fn source(path: PathBuf) -> Option<Rc<str>> {
    thread_local!(static SOURCES: RefCell<HashMap<PathBuf, Option<Rc<str>>>> = RefCell::default());
    SOURCES.with_borrow_mut(|sources| {
        let read = |path: &PathBuf| std::fs::read_to_string(path).ok().map(Rc::from);
        sources.entry(path).or_insert_with_key(read).clone()
    })
}

/// Whether the innermost braces that are open at a place, both numbers counted from 1, are those of an `impl` or `trait`.
fn innermost(text: &str, line: usize, column: usize) -> Option<bool> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let end = start + text.get(start..)?.chars().take(column - 1).map(char::len_utf8).sum::<usize>();
    let mut open = Vec::new();
    let mut head = Head::default();
    let mut rest = text.get(..end)?;
    while let Some(first) = rest.chars().next() {
        let len = skipped(rest).unwrap_or_else(|| {
            if first.is_alphabetic() || first == '_' {
                let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                head.word(&rest[..len]);
                return len;
            }
            match first {
                '{' => open.push(std::mem::take(&mut head).is_impl),
                '}' => {
                    open.pop();
                    head = Head::default();
                }
                ';' if head.depth == 0 => head = Head::default(),
                '(' | '[' => head.depth += 1,
                ')' | ']' => head.depth = head.depth.saturating_sub(1),
                _ => {}
            }
            first.len_utf8()
        });
        rest = rest.get(len..).unwrap_or("");
    }
    open.last().copied()
}

/// What has been read of an item before its braces.
#[derive(Default)]
struct Head {
    /// Parentheses and brackets that are open: attributes, visibilities, parameters.
    depth: usize,
    /// Whether the word has come that says what item it is.
    is_known: bool,
    is_impl: bool,
}

impl Head {
    fn word(&mut self, word: &str) {
        if self.depth == 0 && !self.is_known && !matches!(word, "pub" | "unsafe" | "const" | "auto" | "default") {
            (self.is_known, self.is_impl) = (true, matches!(word, "impl" | "trait"));
        }
    }
}

/// The length of a comment, a text, a character or a lifetime at the beginning.
fn skipped(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(comment(text));
    }
    let prefix = text.len() - text.trim_start_matches(['b', 'c']).len();
    let raw = &text[prefix.min(1)..];
    if let Some(after) = raw.strip_prefix('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        if let Some(body) = after[hashes..].strip_prefix('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let len = body.find(&close).map_or(body.len(), |at| at + close.len());
            return Some(text.len() - body.len() + len);
        }
    }
    let quoted = &text[prefix.min(1)..];
    if let Some(body) = quoted.strip_prefix('"') {
        return Some(text.len() - body.len() + until(body, '"'));
    }
    let body = quoted.strip_prefix('\'')?;
    let mut letters = body.chars();
    let (first, second) = (letters.next()?, letters.next());
    let is_character = first == '\\' || second == Some('\'');
    Some(text.len() - body.len() + if is_character { until(body, '\'') } else { 0 })
}

/// The length of a text up to and with its end, over what a backslash stands before.
fn until(text: &str, end: char) -> usize {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == end {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

/// The length of a comment with what is nested in it.
fn comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match rest {
            rest if rest.starts_with("/*") => (depth, at) = (depth + 1, at + 2),
            rest if rest.starts_with("*/") => (depth, at) = (depth - 1, at + 2),
            rest => at += rest.chars().next().map_or(1, char::len_utf8),
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::innermost;

    fn at(text: &str) -> Option<bool> {
        let before = text.split('@').next().unwrap();
        innermost(&text.replace('@', ""), before.lines().count(), before.lines().last().unwrap().chars().count() + 1)
    }

    #[test]
    fn functions_of_impls_and_traits_are_told_from_others() {
        assert_eq!(at("fn a() {}\n @fn f() {}"), None);
        assert_eq!(at("mod m {\n fn a() -> impl Fn() { b() }\n @fn f() {} }"), Some(false));
        assert_eq!(
            at("impl<T: Into<[u8; 3]>> A for B<T> where T: C {\n fn a() { '{'; \"{\" }\n @fn f() {} }"),
            Some(true)
        );
        assert_eq!(at("pub(crate) unsafe trait A {\n /* } /* */ */ const N: u8 = b'}'; // }\n @fn f(); }"), Some(true));
        assert_eq!(
            at("#[cfg(feature = \"x\")]\nimpl<'a> A<'a> {\n const S: &'a str = r#\"}\"}\"#;\n @fn f() {} }"),
            Some(true)
        );
        assert_eq!(at("impl A { fn g() {\n @fn f() {} } }"), Some(false));
        assert_eq!(at("macro_rules! m { ($t:ty) => { impl A for $t {\n @fn f() {} } } }"), Some(true));
        assert_eq!(at("impl A {} use b::{c, d};\nstatic X: [u8; { 3 }] = [0; 3];\n mod m { @fn f() {} }"), Some(false));
    }
}
