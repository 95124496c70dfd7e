//! What names a source file gives to functions of its own.
//!
//! A kernel that calls `max(x, y)` may mean a function of the user's, or what is a method in kernels. An attribute resolves
//! no names, so the file of the call says which: whether it has a function of that name, or imports one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// The names of a file's functions and imports.
#[derive(Default)]
struct Names {
    known: HashSet<String>,
    /// Whether names may come from elsewhere: by an import of all names of a module, or from a macro.
    is_open: bool,
}

/// Whether the file at this place may have a function of that name; `true` where there is no file to look at.
pub fn may_define(name: &str, at: Span) -> bool {
    thread_local!(static FILES: RefCell<HashMap<PathBuf, Option<Rc<Names>>>> = RefCell::default());
    // The compiler's span: a macro that the compiler runs has no others, so this does not panic.
    let Some(path) = at.unwrap().local_file() else { return true };
    let read = |path: &PathBuf| {
        let tokens = std::fs::read_to_string(path).ok()?.parse().ok()?;
        Some(Rc::new(Names::of(tokens)))
    };
    let names = FILES.with_borrow_mut(|files| files.entry(path).or_insert_with_key(read).clone());
    names.is_none_or(|names| names.is_open || names.known.contains(name))
}

impl Names {
    fn of(tokens: TokenStream) -> Names {
        let mut names = Names::default();
        names.take(tokens, 0);
        names
    }

    /// Takes the names of what stands in `depth` pairs of braces.
    fn take(&mut self, tokens: TokenStream, depth: usize) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => {
                    let deeper = usize::from(group.delimiter() == Delimiter::Brace);
                    self.take(group.stream(), depth + deeper);
                }
                TokenTree::Ident(word) if word == "fn" => match tokens.peek() {
                    Some(TokenTree::Ident(name)) => {
                        self.known.insert(name.to_string());
                    }
                    // A macro gives the name.
                    Some(TokenTree::Punct(sign)) if sign.as_char() == '$' => self.is_open = true,
                    _ => {}
                },
                TokenTree::Ident(word) if word == "use" => {
                    let import = tokens.by_ref().take_while(|token| !is_sign(token, ';'));
                    self.import(import.collect(), depth);
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn import(&mut self, import: TokenStream, depth: usize) {
        // Of these nothing comes that could be meant, or what the file has anyway.
        let is_known_root = |token: &TokenTree| match token {
            TokenTree::Ident(root) => {
                ["wattle", "std", "core", "alloc"].iter().any(|known| root == known) || root == "super" && depth > 0
            }
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        let root = import.clone().into_iter().find(|token| !is_sign(token, ':'));
        let takes_all = self.import_names(import);
        self.is_open |= takes_all && !root.as_ref().is_some_and(is_known_root);
    }

    /// Takes the names of an import, and says whether it has a `*`.
    fn import_names(&mut self, import: TokenStream) -> bool {
        let mut takes_all = false;
        for token in import {
            match token {
                TokenTree::Ident(name) => {
                    self.known.insert(name.to_string());
                }
                TokenTree::Group(group) => takes_all |= self.import_names(group.stream()),
                token => takes_all |= is_sign(&token, '*'),
            }
        }
        takes_all
    }
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == sign)
}

#[cfg(test)]
mod tests {
    use super::Names;

    fn may_define(name: &str, text: &str) -> bool {
        let names = Names::of(text.parse().expect("a source"));
        names.is_open || names.known.contains(name)
    }

    #[test]
    fn functions_and_imports_are_names_of_the_file() {
        assert!(may_define("max", "mod a { #[device_fn] fn max<T: Number>(x: T, y: T) -> T { x.max(y) } }"));
        assert!(may_define("max", "use crate::math::{self, max};"));
        assert!(may_define("max", "use crate::math::*; fn f() {}"));
        assert!(may_define("max", "macro_rules! f { ($n:ident) => { fn $n() {} } } f!(max);"));
    }

    #[test]
    fn calls_and_variables_are_no_names_of_the_file() {
        let text =
            "use wattle::prelude::*; mod tests { use super::*; fn f() { let max = 1; max(x.max(y)); /* fn max */ } }";
        assert!(!may_define("max", text));
    }
}
