//! Whether a function stands in an `impl` or `trait`, and of which trait it is.
//!
//! An attribute sees the function alone, and what it writes for one of a module, with a type beside it, cannot stand in
//! an `impl`. So the source says it: the braces that are open where the function begins.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use proc_macro2::{Ident, Span};
use syn::{Item, TypeParamBound};

use crate::trait_bounds::{bounds, is_bound_of_numbers};

/// Whether the source at this place is directly in an `impl` or `trait`; `false` where there is no source to look at.
pub fn is_in_impl(at: Span) -> bool {
    head(at).is_some_and(|(_, head)| head.is_impl)
}

/// The name of the trait that the `impl` around this place is of, as far as there is a source to look at.
pub fn implemented(at: Span) -> Option<String> {
    head(at).filter(|(_, head)| head.is_for).and_then(|(_, head)| head.last)
}

/// What the `impl` or `trait` around a function says of types, as far as there is a source to look at.
#[derive(Debug, Default, PartialEq)]
pub struct Around {
    /// The type parameters that are numbers, with their traits, and `Self` where it is one.
    pub numbers: Vec<(Ident, Vec<TypeParamBound>)>,
    /// Whether types may be type parameters: it is a trait, or an `impl` with some.
    pub is_generic: bool,
    /// Whether it is an `impl` for a type that is made of type parameters or constants.
    pub is_generic_impl: bool,
}

/// What stands around a function at this place; `None` where it is not in an `impl` or `trait` that can be read.
pub fn around(at: Span) -> Option<Around> {
    let (text, head) = head(at).filter(|(_, head)| head.is_impl)?;
    said(&format!("{} {{}}", &text[head.begin..head.end]))
}

fn said(item: &str) -> Option<Around> {
    let traits = |bounds: &mut dyn Iterator<Item = &TypeParamBound>| -> Vec<TypeParamBound> {
        bounds.filter(|bound| is_bound_of_numbers(bound)).cloned().collect()
    };
    let of_self = |traits| (Ident::new("Self", Span::call_site()), traits);
    // What a file or a module begins with stands before its first item.
    let is_inner = |line: &&str| line.trim_start().starts_with("//!") || line.trim_start().starts_with("#![");
    let item: Item =
        syn::parse_str(&item.lines().filter(|line| !is_inner(line)).collect::<Vec<_>>().join("\n")).ok()?;
    let (generics, mut numbers) = match &item {
        Item::Trait(of) => (&of.generics, vec![of_self(traits(&mut of.supertraits.iter()))]),
        Item::Impl(of) => (&of.generics, Vec::new()),
        _ => return None,
    };
    numbers
        .extend(generics.type_params().map(|generic| (generic.ident.clone(), traits(&mut bounds(generics, generic)))));
    let mut is_generic_impl = false;
    if let Item::Impl(of) = &item {
        is_generic_impl = generics.type_params().next().is_some() || generics.const_params().next().is_some();
        let is_parameter = |generic: &syn::TypeParam| matches!(&*of.self_ty, syn::Type::Path(path) if path.path.is_ident(&generic.ident));
        is_generic_impl &= !generics.type_params().any(is_parameter);
        let is_self = |generic: &Ident| matches!(&*of.self_ty, syn::Type::Path(path) if path.path.is_ident(generic));
        let same = numbers.iter().find(|(generic, _)| is_self(generic)).map(|(_, traits)| of_self(traits.clone()));
        numbers.extend(same);
    }
    numbers.retain(|(_, traits)| !traits.is_empty());
    let is_generic = matches!(item, Item::Trait(_)) || generics.type_params().next().is_some();
    Some(Around { numbers, is_generic, is_generic_impl })
}

/// The text of the file of a place, and what stands before the innermost braces that are open there.
fn head(at: Span) -> Option<(Rc<str>, Head)> {
    let at = of_compiler(at)?;
    let text = source(at.local_file()?)?;
    let head = innermost(&text, at.line(), at.column())?;
    Some((text, head))
}

/// The compiler's span of a place; `None` where no compiler runs the macro, as in unit tests.
pub fn of_compiler(at: Span) -> Option<proc_macro::Span> {
    proc_macro::is_available().then(|| at.unwrap())
}

fn source(path: PathBuf) -> Option<Rc<str>> {
    thread_local!(static SOURCES: RefCell<HashMap<PathBuf, Option<Rc<str>>>> = RefCell::default());
    SOURCES.with_borrow_mut(|sources| {
        let read = |path: &PathBuf| std::fs::read_to_string(path).ok().map(Rc::from);
        sources.entry(path).or_insert_with_key(read).clone()
    })
}

/// What stands before the innermost braces that are open at a place, both numbers counted from 1.
fn innermost(text: &str, line: usize, column: usize) -> Option<Head> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let end = start + text.get(start..)?.chars().take(column - 1).map(char::len_utf8).sum::<usize>();
    let mut open = Vec::new();
    let mut head = Head::default();
    let text = text.get(..end)?;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let after = || Head { begin: at + first.len_utf8(), ..Head::default() };
        let len = skipped(rest).unwrap_or_else(|| {
            if first.is_alphabetic() || first == '_' {
                let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                head.word(&rest[..len]);
                return len;
            }
            let is_arrow = std::mem::replace(&mut head.dash, first == '-');
            match first {
                '{' => open.push(Head { end: at, ..std::mem::replace(&mut head, after()) }),
                '<' => head.angles += 1,
                '>' if !is_arrow => head.angles = head.angles.saturating_sub(1),
                '}' => {
                    open.pop();
                    head = after();
                }
                ';' if head.depth == 0 => head = after(),
                '(' | '[' => head.depth += 1,
                ')' | ']' => head.depth = head.depth.saturating_sub(1),
                _ => {}
            }
            first.len_utf8()
        });
        rest = rest.get(len..).unwrap_or("");
    }
    open.pop()
}

/// What has been read of an item before its braces.
#[derive(Default)]
struct Head {
    /// The offset in the text at which the item begins.
    begin: usize,
    /// The offset in the text at which the item's braces begin.
    end: usize,
    /// Parentheses and brackets that are open: attributes, visibilities, parameters.
    depth: usize,
    /// Angle brackets that are open.
    angles: usize,
    /// Whether a `-` has just been read.
    dash: bool,
    /// Whether the word has come that says what item it is.
    is_known: bool,
    is_impl: bool,
    /// The last word outside all brackets, up to the `for` of an `impl`.
    last: Option<String>,
    is_for: bool,
}

impl Head {
    fn word(&mut self, word: &str) {
        if self.depth == 0 && !self.is_known && !matches!(word, "pub" | "unsafe" | "const" | "auto" | "default") {
            (self.is_known, self.is_impl) = (true, matches!(word, "impl" | "trait"));
        } else if self.is_impl && self.depth == 0 && self.angles == 0 && !self.is_for {
            match word {
                "for" => self.is_for = true,
                word => self.last = Some(word.to_owned()),
            }
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
    use super::{Around, innermost, said as said_around};

    fn at(text: &str) -> Option<bool> {
        let before = text.split('@').next().unwrap();
        let column = before.lines().last().unwrap().chars().count() + 1;
        innermost(&text.replace('@', ""), before.lines().count(), column).map(|head| head.is_impl)
    }

    #[test]
    fn the_trait_of_an_impl_is_found() {
        let of = |text: &str| innermost(text, 1, text.len() + 1).filter(|head| head.is_for)?.last;
        assert_eq!(of("impl<T: Fn(u8) -> u8> std::ops::Add<B<T>> for A { "), Some("Add".to_owned()));
        assert_eq!(of("impl<T: Add> A<T> where T: Add { "), None);
        assert_eq!(of("impl<T: Add> B for A<T> { "), Some("B".to_owned()));
    }

    #[test]
    fn what_stands_around_says_which_types_are_numbers() {
        let of = |text: &str| {
            let head = innermost(text, 1, text.len() + 1)?;
            let Around { numbers, is_generic_impl, .. } =
                said_around(&format!("{} {{}}", &text[head.begin..head.end]))?;
            let numbers = numbers.iter().map(|(name, traits)| (name.to_string(), traits.len())).collect();
            Some((numbers, is_generic_impl))
        };
        let said = |numbers: &[&str], is_generic_impl| {
            Some((numbers.iter().map(|name| ((*name).to_owned(), 1)).collect::<Vec<_>>(), is_generic_impl))
        };
        assert_eq!(of("fn f() {} /// Its.\n pub trait A: Copy + Float { "), said(&["Self"], false));
        assert_eq!(of("trait A<T: Word, U: Copy> { "), said(&["T"], false));
        assert_eq!(of("use b::c; impl<T: wattle::prelude::Int> A for T where T: B { "), said(&["T", "Self"], false));
        assert_eq!(of("mod m { #[x(y)]\nimpl<const N: usize> A for [f32; N] { "), said(&[], true));
        assert_eq!(of("impl<T> A<T> for B where T: Float { "), said(&["T"], true));
        assert_eq!(of("impl<S: Shape> A for S { "), said(&[], false));
        assert_eq!(of("//! Shapes.\n#![allow(unused)]\ntrait A: Float { "), said(&["Self"], false));
        assert_eq!(of("impl A for B { fn g() {} "), said(&[], false));
        assert_eq!(of("impl A for $t { "), None);
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
