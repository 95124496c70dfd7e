//! Patterns in kernels: of `let`, `for`, `match` and `if let`.

use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Pat, Result};

use super::structs::{ENUMS, is_structs, numbered};
use super::{Parser, error};
use crate::ast::{Expr, ExprKind, Local, Pattern};

/// What patterns there are, for what is none of them.
const PATTERNS: &str = "patterns in kernels are names, `_`, literals, constants, ranges `1..=9`, alternatives `1 | 2`, \
                        `n @ 1..=9`, tuples `(a, b)`, arrays `[y, x]` and structs `Body { mass, .. }`";

impl Parser {
    /// A pattern, which declares its names. One that always matches has no constants: each name in it is a variable's.
    pub(super) fn pattern(&mut self, pattern: &Pat, refutable: bool) -> Result<Pattern> {
        match pattern {
            Pat::Ident(name) if name.by_ref.is_some() => {
                error(name, "there are no references in kernels: values are copied; leave out `ref`")
            }
            Pat::Ident(name) if refutable && is_constant(&name.ident) && name.subpat.is_none() => {
                let kind = ExprKind::constant(name.ident.clone());
                Ok(Pattern::Value(Box::new(Expr { kind, span: name.span() })))
            }
            Pat::Ident(name) => {
                let local = self.declare(&name.ident, name.mutability.is_some());
                let mut_span = name.mutability.map_or(local.mut_span, |token| token.span);
                let local = Local { mut_span, ..local };
                Ok(match &name.subpat {
                    Some((_, pattern)) => Pattern::At(local, Box::new(self.pattern(pattern, refutable)?)),
                    None => Pattern::Local(local),
                })
            }
            Pat::Wild(wild) => Ok(Pattern::Wild(wild.span())),
            Pat::Tuple(tuple) => {
                let rest = tuple.elems.iter().position(|part| matches!(part, Pat::Rest(_)));
                if let Some(rest) = rest.filter(|&rest| refutable && rest + 1 < tuple.elems.len()) {
                    return error(
                        &tuple.elems[rest],
                        "in a pattern that need not match, `..` is the last part of a tuple: write `_` for each of the others",
                    );
                }
                Ok(Pattern::Tuple(self.parts(&tuple.elems, refutable)?, tuple.span()))
            }
            Pat::Slice(slice) => Ok(Pattern::Array(self.parts(&slice.elems, refutable)?, slice.span())),
            Pat::Paren(inner) => self.pattern(&inner.pat, refutable),
            Pat::Lit(literal) => self.boxed(&syn::Expr::Lit(literal.clone())).map(Pattern::Value),
            Pat::Path(path) => {
                let kind = ExprKind::Constant(path.clone());
                Ok(Pattern::Value(Box::new(Expr { kind, span: path.span() })))
            }
            Pat::Range(range) => {
                let mut end = |end: &Option<Box<syn::Expr>>| end.as_ref().map(|end| self.boxed(end)).transpose();
                let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
                Ok(Pattern::Range { begin: end(&range.start)?, end: end(&range.end)?, inclusive })
            }
            Pat::Or(any) => {
                let alternatives = self.patterns(&any.cases, refutable)?;
                if alternatives.iter().any(Pattern::has_names) {
                    return error(any, "alternatives have no names in kernels: write `n @ (1 | 2)`, or several arms");
                }
                Ok(Pattern::Or(alternatives))
            }
            Pat::Rest(_) => {
                error(pattern, "write each part of the tuple or array in its place, with `_` for the others")
            }
            Pat::Struct(fields) => self.struct_pattern(fields, refutable),
            Pat::TupleStruct(tuple) if is_structs(&tuple.path) => {
                let rest = matches!(tuple.elems.last(), Some(Pat::Rest(_)));
                let parts = self.patterns(tuple.elems.iter().take(tuple.elems.len() - usize::from(rest)), refutable)?;
                let fields = numbered(parts).collect();
                Ok(Pattern::Struct { path: tuple.path.clone(), fields, rest })
            }
            Pat::TupleStruct(_) => error(pattern, ENUMS),
            Pat::Reference(_) => error(pattern, "there are no references in kernels: values are copied; leave out `&`"),
            _ => error(pattern, PATTERNS),
        }
    }

    /// The parts of a tuple or of an array, of which `..` may leave some out.
    fn parts<'p>(&mut self, all: impl IntoIterator<Item = &'p Pat>, refutable: bool) -> Result<Vec<Pattern>> {
        let part = |part: &Pat| match part {
            Pat::Rest(rest) if !self.in_for => Ok(Pattern::Rest(rest.span())),
            part => self.pattern(part, refutable),
        };
        all.into_iter().map(part).collect()
    }

    fn patterns<'p>(&mut self, all: impl IntoIterator<Item = &'p Pat>, refutable: bool) -> Result<Vec<Pattern>> {
        all.into_iter().map(|pattern| self.pattern(pattern, refutable)).collect()
    }
}

/// Whether a name in a pattern means a constant, as it does for rustc if there is one of that name: constants are
/// written with capitals. What is taken for one and is none does not compile, nor does the reverse.
fn is_constant(name: &Ident) -> bool {
    let name = name.to_string();
    name.starts_with(char::is_uppercase) && !name.contains(char::is_lowercase)
}

impl Pattern {
    fn has_names(&self) -> bool {
        match self {
            Pattern::Local(_) | Pattern::At(..) => true,
            Pattern::Tuple(all, _) | Pattern::Array(all, _) | Pattern::Or(all) => all.iter().any(Pattern::has_names),
            Pattern::Struct { fields, .. } => fields.iter().any(|(_, pattern)| pattern.has_names()),
            Pattern::Wild(_) | Pattern::Rest(_) | Pattern::Value(_) | Pattern::Range { .. } => false,
        }
    }
}
