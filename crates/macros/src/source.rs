//! What names a source file gives to functions of its own.
//!
//! A kernel that calls `max(x, y)` may mean a function of the user's, or what is a method in kernels. An attribute
//! resolves no names, so the file of the call says which: whether it has a function of that name, or imports one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use crate::surroundings::of_compiler;

/// The names of a file's functions, types and imports.
#[derive(Default)]
struct Names {
    known: HashSet<String>,
    /// Device functions that have a receiver.
    methods: HashSet<String>,
    /// Kernels; their names are not among `known`.
    kernels: HashSet<String>,
    structs: HashSet<String>,
    /// Traits, enumerations, other names of types, and what is imported from elsewhere than the library.
    types: HashSet<String>,
    /// Constants that are numbers or arrays of them.
    numbers: HashSet<String>,
    /// Constants that are arrays, and those that are not.
    arrays: HashSet<String>,
    no_arrays: HashSet<String>,
    /// Whether names may come from elsewhere: by an import of all names of a module, or from a macro.
    is_open: bool,
}

/// Whether the file at this place may have a function of that name; `true` where there is no file to look at.
pub fn may_define(name: &str, at: Span) -> bool {
    names(at).is_none_or(|names| names.may_come_otherwise(name) || names.kernels.contains(name))
}

/// Whether the file at this place has a kernel of that name, and no other function.
pub fn is_kernel(name: &str, at: Span) -> bool {
    names(at).is_some_and(|names| names.kernels.contains(name) && !names.may_come_otherwise(name))
}

/// Whether the file at this place has a constant of that name that is an array, and no other constant.
pub fn is_constant_array(name: &str, at: Span) -> bool {
    names(at).is_some_and(|names| {
        names.arrays.contains(name) && !names.no_arrays.contains(name) && !names.may_come_otherwise(name)
    })
}

/// Whether the file at this place has a device function of that name with a receiver.
pub fn has_method(name: &str, at: Span) -> bool {
    names(at).is_some_and(|names| names.methods.contains(name))
}

/// Whether the file at this place has a struct of that name.
pub fn has_struct(name: &str, at: Span) -> bool {
    names(at).is_some_and(|names| names.structs.contains(name))
}

/// Whether the file at this place may have a type or trait of that name, or imports one by it.
pub fn may_have_type(name: &str, at: Span) -> bool {
    let may = |names: &Names| names.is_open || names.structs.contains(name) || names.types.contains(name);
    names(at).is_none_or(|names| may(&names))
}

/// Whether the file at this place has a constant of that name that is a number, or an array of numbers.
pub fn is_constant_number(name: &str, at: Span) -> bool {
    names(at).is_some_and(|names| names.numbers.contains(name))
}

/// The names of the file at this place, where there is one to look at.
fn names(at: Span) -> Option<Rc<Names>> {
    thread_local!(static FILES: RefCell<HashMap<PathBuf, Option<Rc<Names>>>> = RefCell::default());
    let path = of_compiler(at)?.local_file()?;
    let read = |path: &PathBuf| {
        let tokens = std::fs::read_to_string(path).ok()?.parse().ok()?;
        Some(Rc::new(Names::of(tokens)))
    };
    FILES.with_borrow_mut(|files| files.entry(path).or_insert_with_key(read).clone())
}

impl Names {
    fn of(tokens: TokenStream) -> Names {
        let mut names = Names::default();
        names.take(tokens, 0);
        names
    }

    /// Whether the name may be that of a function or an import.
    fn may_come_otherwise(&self, name: &str) -> bool {
        self.is_open || self.known.contains(name)
    }

    /// Takes the names of what stands in `depth` pairs of braces.
    fn take(&mut self, tokens: TokenStream, depth: usize) {
        let mut tokens = tokens.into_iter().peekable();
        // Whether an attribute of the item that is being read is `#[device_fn]`, or `#[kernel]`.
        let (mut is_marked, mut is_kernel) = (false, false);
        let mut is_attribute = false;
        while let Some(token) = tokens.next() {
            let is_behind_sign = std::mem::replace(&mut is_attribute, is_sign(&token, '#'));
            match token {
                TokenTree::Group(group) => {
                    match group.delimiter() {
                        Delimiter::Bracket if is_behind_sign => {
                            is_marked |= ends_in(group.stream(), "device_fn");
                            is_kernel |= ends_in(group.stream(), "kernel");
                        }
                        Delimiter::Brace => (is_marked, is_kernel) = (false, false),
                        Delimiter::Parenthesis | Delimiter::Bracket | Delimiter::None => {}
                    }
                    let deeper = usize::from(group.delimiter() == Delimiter::Brace);
                    self.take(group.stream(), depth + deeper);
                }
                TokenTree::Ident(word) if word == "fn" => match tokens.peek() {
                    Some(TokenTree::Ident(name)) => {
                        let name = name.to_string();
                        // Its parameters are the first parentheses that begin with `self`, if any before its body do.
                        let mut head = tokens.clone().take_while(|token| !is_body(token));
                        let of_type = |token| matches!(token, TokenTree::Group(group) if has_receiver(group.stream()));
                        if std::mem::take(&mut is_marked) && head.any(of_type) {
                            self.methods.insert(name.clone());
                        }
                        match std::mem::take(&mut is_kernel) {
                            true => self.kernels.insert(name),
                            false => self.known.insert(name),
                        };
                    }
                    // A macro gives the name.
                    Some(TokenTree::Punct(sign)) if sign.as_char() == '$' => self.is_open = true,
                    _ => {}
                },
                TokenTree::Ident(word) if word == "struct" => {
                    if let Some(TokenTree::Ident(name)) = tokens.peek() {
                        self.structs.insert(name.to_string());
                    }
                }
                TokenTree::Ident(word) if ["trait", "enum", "type"].iter().any(|item| word == item) => {
                    if let Some(TokenTree::Ident(name)) = tokens.peek() {
                        self.types.insert(name.to_string());
                    }
                }
                TokenTree::Ident(word) if word == "const" => {
                    let mut constant = tokens.clone();
                    if let (Some(TokenTree::Ident(name)), Some(colon), Some(ty)) =
                        (constant.next(), constant.next(), constant.next())
                        && is_sign(&colon, ':')
                    {
                        self.constant(name.to_string(), &ty);
                    }
                }
                TokenTree::Ident(word) if word == "use" => {
                    let import = tokens.by_ref().take_while(|token| !is_sign(token, ';'));
                    self.import(import.collect(), depth);
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn constant(&mut self, name: String, ty: &TokenTree) {
        if is_of_numbers(ty) {
            self.numbers.insert(name.clone());
        }
        match ty {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => self.arrays.insert(name),
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                self.no_arrays.insert(name)
            }
        };
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
        let is_known = root.as_ref().is_some_and(is_known_root);
        let takes_all = self.import_names(import, !is_known);
        self.is_open |= takes_all && !is_known;
    }

    /// Takes the names of an import, which may be types of the user's, and says whether it has a `*`.
    fn import_names(&mut self, import: TokenStream, are_users: bool) -> bool {
        let mut takes_all = false;
        for token in import {
            match token {
                TokenTree::Ident(name) => {
                    self.known.insert(name.to_string());
                    if are_users {
                        self.types.insert(name.to_string());
                    }
                }
                TokenTree::Group(group) => takes_all |= self.import_names(group.stream(), are_users),
                token => takes_all |= is_sign(&token, '*'),
            }
        }
        takes_all
    }
}

/// Whether an attribute has this name, by whatever path and with whatever arguments.
fn ends_in(attribute: TokenStream, name: &str) -> bool {
    let path = attribute.into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
    matches!(path.last(), Some(TokenTree::Ident(last)) if last == name)
}

/// Whether a type is one of numbers, or of arrays of them.
fn is_of_numbers(ty: &TokenTree) -> bool {
    match ty {
        TokenTree::Ident(name) => crate::numbers::is_number(&name.to_string()),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            group.stream().into_iter().next().is_some_and(|element| is_of_numbers(&element))
        }
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    }
}

/// Whether a function's head ends here.
fn is_body(token: &TokenTree) -> bool {
    is_sign(token, ';') || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Whether these are parameters that begin with a receiver.
fn has_receiver(parameters: TokenStream) -> bool {
    let mut is_lifetime = false;
    let first = parameters.into_iter().find(|token| match token {
        TokenTree::Punct(sign) => {
            is_lifetime = sign.as_char() == '\'';
            !is_lifetime && sign.as_char() != '&'
        }
        TokenTree::Ident(word) => !std::mem::take(&mut is_lifetime) && word != "mut",
        TokenTree::Group(_) | TokenTree::Literal(_) => true,
    });
    matches!(first, Some(TokenTree::Ident(word)) if word == "self")
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
    fn methods_have_receivers() {
        let text = "impl<'a> A { #[device_fn] pub fn a(&'a mut self) {} #[wattle::device_fn(wide)] #[inline] fn b<F: Fn(u32) -> \
                    u32>(mut self, f: F) {} #[device_fn] fn c(x: &Self) {} fn g(&self) {} } #[device_fn] fn d(f: fn(u32)) { \
                    self.e(self) } trait B { #[device_fn] fn f(self: Self, x: u32); fn h(self); }";
        let methods = Names::of(text.parse().expect("a source")).methods;
        let mut methods: Vec<_> = methods.iter().map(String::as_str).collect();
        methods.sort_unstable();
        assert_eq!(methods, ["a", "b", "f"]);
    }

    #[test]
    fn kernels_are_apart_from_functions() {
        let text = "#[kernel] fn a(acc: &Acc) {} #[wattle::kernel(wide)] pub fn b() {} fn c() {} const T: [u32; 2] = [1, 2]; \
                    fn d<const N: usize>() { const N: [u32; 2] = [1, 2]; }";
        let names = Names::of(text.parse().expect("a source"));
        let sorted = |names: &std::collections::HashSet<String>| {
            let mut names: Vec<_> = names.iter().cloned().collect();
            names.sort_unstable();
            names.join(" ")
        };
        assert_eq!((sorted(&names.kernels), sorted(&names.known)), ("a b".to_owned(), "c d".to_owned()));
        assert_eq!((sorted(&names.arrays), sorted(&names.no_arrays)), ("N T".to_owned(), "N".to_owned()));
    }

    #[test]
    fn calls_and_variables_are_no_names_of_the_file() {
        let text =
            "use wattle::prelude::*; mod tests { use super::*; fn f() { let max = 1; max(x.max(y)); /* fn max */ } }";
        assert!(!may_define("max", text));
    }
}
