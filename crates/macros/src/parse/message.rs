//! The messages of assertions and `println!`: Rust's format strings, without what a device cannot give a host.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Lit, LitStr, Result};

use super::{Parser, error};
use crate::ast::{Expr, ExprKind, Message};

/// The most values of a message, as in `wattle_ir::message`.
const MOST_ARGUMENTS: usize = 16;

/// A format string that is being read.
struct Format<'p> {
    parser: &'p mut Parser,
    source: &'p LitStr,
    /// The names of the values that were given with one.
    names: Vec<(String, usize)>,
    arguments: Vec<Expr>,
    used: Vec<bool>,
    /// The number that the next `{}` has.
    next: usize,
    /// The number of values behind the format string.
    given: usize,
    pieces: TokenStream,
    /// The text with numbers in the place of names.
    literal: String,
}

/// The parts of what stands behind the colon.
struct Spec {
    style: &'static str,
    fill: char,
    align: Option<&'static str>,
    plus: bool,
    alternate: bool,
    zero: bool,
    width: Option<u16>,
    precision: Option<u16>,
}

impl Parser {
    /// A message without values.
    pub(super) fn plain_message(&self, text: &str, span: Span) -> Message {
        let literal = LitStr::new(&text.replace('{', "{{").replace('}', "}}"), span);
        Message { literal, pieces: piece(text), arguments: Vec::new() }
    }

    /// A message: a format string and its values.
    pub(super) fn message(&mut self, all: &[&syn::Expr]) -> Result<Message> {
        let Some((first, given)) = all.split_first() else { return Ok(self.plain_message("", Span::call_site())) };
        let syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(source), .. }) = first else {
            return error(first, "a message begins with its text: `\"x = {}\", x`");
        };
        let (mut names, mut arguments) = (Vec::new(), Vec::new());
        for x in given {
            let value = match x {
                syn::Expr::Assign(assign) => match &*assign.left {
                    syn::Expr::Path(path) if path.path.get_ident().is_some() => {
                        names.push((path.path.require_ident()?.to_string(), arguments.len()));
                        &*assign.right
                    }
                    other => return error(other, "a value of a message has a name, or none: `\"{n}\", n = x + 1`"),
                },
                other => other,
            };
            if matches!(value, syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(_), .. })) {
                return error(value, "a message takes numbers and truth values; write the text into the format string");
            }
            arguments.push(self.expr(value)?);
        }
        let used = vec![false; arguments.len()];
        let (pieces, literal, given) = (TokenStream::new(), String::new(), arguments.len());
        let mut format = Format { parser: self, source, names, arguments, used, next: 0, given, pieces, literal };
        format.read()?;
        let Format { arguments, used, pieces, literal, .. } = format;
        if let Some(unused) = used.iter().position(|used| !used) {
            return error(all[unused + 1], "the text has no place for this value: write `{}` where it stands");
        }
        if arguments.len() > MOST_ARGUMENTS {
            let message = format!("a message of a kernel has {MOST_ARGUMENTS} values at the most");
            return error(source, &message);
        }
        Ok(Message { literal: LitStr::new(&literal, source.span()), pieces, arguments })
    }
}

/// A piece of literal text.
fn piece(text: &str) -> TokenStream {
    if text.is_empty() {
        return TokenStream::new();
    }
    quote!(::wattle::__private::message::Piece::Literal(::std::borrow::Cow::Borrowed(#text)),)
}

impl Format<'_> {
    fn refuse<T>(&self, message: &str) -> Result<T> {
        error(self.source, message)
    }

    fn read(&mut self) -> Result<()> {
        let text = self.source.value();
        let (mut rest, mut plain) = (text.as_str(), String::new());
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let (brace, behind) = rest[at..].split_at(1);
            if behind.starts_with(brace) {
                plain.push_str(brace);
                rest = &behind[1..];
                continue;
            }
            if brace == "}" {
                return self.refuse("a `}` without its `{`; the character itself is `}}`");
            }
            let Some((inside, behind)) = behind.split_once('}') else {
                return self.refuse("a `{` without its `}`; the character itself is `{{`");
            };
            self.literal(&std::mem::take(&mut plain));
            self.value(inside)?;
            rest = behind;
        }
        plain.push_str(rest);
        self.literal(&plain);
        Ok(())
    }

    fn literal(&mut self, text: &str) {
        self.pieces.extend(piece(text));
        self.literal.push_str(&text.replace('{', "{{").replace('}', "}}"));
    }

    /// Parses the text between two braces: `name:format`.
    fn value(&mut self, inside: &str) -> Result<()> {
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        let number = self.number(name.trim())?;
        if let Some(used) = self.used.get_mut(number) {
            *used = true;
        }
        let spec = self.spec(format.trim_end())?;
        let colon = if format.is_empty() { "" } else { ":" };
        self.literal.push_str(&format!("{{{number}{colon}{}}}", format.trim_end()));
        self.pieces.extend(quote!(::wattle::__private::message::Piece::Value(#number, #spec),));
        Ok(())
    }

    /// The number of the value that a name, a number or nothing stands for.
    fn number(&mut self, name: &str) -> Result<usize> {
        let given = self.given;
        let is_given = |number: usize| number < given;
        if name.is_empty() {
            self.next += 1;
            if !is_given(self.next - 1) {
                let message = format!("the text has a place for value {}, and is given {given}", self.next);
                return self.refuse(&message);
            }
            return Ok(self.next - 1);
        }
        if let Ok(number) = name.parse::<usize>() {
            if !is_given(number) {
                let message = format!("there is no value {number}: the text is given {given}, counted from 0");
                return self.refuse(&message);
            }
            return Ok(number);
        }
        if let Some((_, number)) = self.names.iter().find(|(known, _)| known == name) {
            return Ok(*number);
        }
        let Ok(ident) = syn::parse_str::<Ident>(name) else {
            return self.refuse(
                "between the braces stands a variable, a number or nothing; give anything else behind the text",
            );
        };
        let ident = Ident::new(&ident.to_string(), self.source.span());
        let Some(local) = self.parser.find(&ident) else {
            return Ok(self.captured(name, ExprKind::constant(ident)));
        };
        let is_view = self.parser.views.contains_key(&local.number);
        Ok(self.captured(name, ExprKind::Local(crate::ast::Local { name: ident, is_view, ..local })))
    }

    /// A value that only the text names; later places of the same name mean it too.
    fn captured(&mut self, name: &str, kind: ExprKind) -> usize {
        let number = self.arguments.len();
        self.arguments.push(Expr { kind, span: self.source.span() });
        self.used.push(true);
        self.names.push((name.to_owned(), number));
        number
    }

    /// What stands behind the colon: `[[fill]align][+][#][0][width][.precision][style]`.
    fn spec(&self, format: &str) -> Result<TokenStream> {
        let mut rest = format;
        let align = |c: char| match c {
            '<' => Some("Left"),
            '^' => Some("Center"),
            '>' => Some("Right"),
            _ => None,
        };
        let mut spec = Spec {
            style: "Display",
            fill: ' ',
            align: None,
            plus: false,
            alternate: false,
            zero: false,
            width: None,
            precision: None,
        };
        let mut start = rest.chars();
        match (start.next(), start.next().and_then(align)) {
            (Some(fill), Some(side)) => {
                (spec.fill, spec.align) = (fill, Some(side));
                rest = start.as_str();
            }
            (Some(first), None) if align(first).is_some() => {
                spec.align = align(first);
                rest = &rest[1..];
            }
            _ => {}
        }
        let mut flag = |sign| {
            let stripped = rest.strip_prefix(sign);
            rest = stripped.unwrap_or(rest);
            stripped.is_some()
        };
        (spec.plus, spec.alternate, spec.zero) = (flag('+'), flag('#'), flag('0'));
        spec.width = self.count(&mut rest)?;
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
            spec.precision = self.count(&mut rest)?;
            if spec.precision.is_none() {
                return self.refuse("the digits of a kernel's message are a number: `{:.3}`");
            }
        }
        spec.style = match rest {
            "" => "Display",
            "?" => "Debug",
            "x" => "LowerHex",
            "X" => "UpperHex",
            "o" => "Octal",
            "b" => "Binary",
            "e" => "LowerExp",
            "E" => "UpperExp",
            _ if rest.contains('$') => {
                return self.refuse("the width of a value in a kernel's message is a number: `{:8}`");
            }
            _ => return self.refuse("this is no format of a number: `{}`, `{:?}`, `{:x}`, `{:o}`, `{:b}`, `{:e}`"),
        };
        Ok(spec.tokens())
    }

    /// A number at the beginning, if there is one.
    fn count(&self, rest: &mut &str) -> Result<Option<u16>> {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        // Digits before a `$` are the number of a value.
        if number.is_empty() || behind.starts_with('$') {
            return Ok(None);
        }
        *rest = behind;
        match number.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => self.refuse("a width has 65,535 characters at the most"),
        }
    }
}

impl Spec {
    fn tokens(&self) -> TokenStream {
        let Spec { style, fill, align, plus, alternate, zero, width, precision } = self;
        let count = |count: &Option<u16>| match count {
            Some(count) => quote!(::core::option::Option::Some(#count)),
            None => quote!(::core::option::Option::None),
        };
        let (width, precision, style) = (count(width), count(precision), format_ident!("{style}"));
        let align = match align.map(|align| format_ident!("{align}")) {
            Some(align) => quote!(::core::option::Option::Some(::wattle::__private::message::Align::#align)),
            None => quote!(::core::option::Option::None),
        };
        quote! {
            ::wattle::__private::message::Spec {
                style: ::wattle::__private::message::Style::#style,
                fill: #fill,
                align: #align,
                plus: #plus,
                alternate: #alternate,
                zero: #zero,
                width: #width,
                precision: #precision,
            }
        }
    }
}
