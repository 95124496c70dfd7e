//! Macros in kernels: the assertions and `matches!`, and the refusal of all others.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Lit, Result};

use super::{Parser, error};
use crate::ast::{Expr, ExprKind};

impl Parser {
    pub(super) fn macro_call(&mut self, call: &syn::Macro) -> Result<Expr> {
        let span = call.path.span();
        let name = call.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let arguments =
            || call.parse_body_with(syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        let message = |all: &[&syn::Expr], otherwise: String| match all {
            [] => Ok(otherwise),
            [syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. })] if !text.value().contains('{') => {
                Ok(text.value())
            }
            [first, ..] => error(
                first,
                "the message of an assertion in a kernel is one string without arguments; the report names line and thread",
            ),
        };
        match name.as_str() {
            "assert" | "debug_assert" => {
                let all = arguments()?;
                let Some(condition) = all.first() else { return error(call, "assert what?") };
                let text = message(&all.iter().skip(1).collect::<Vec<_>>(), text(condition))?;
                Ok(Expr { kind: ExprKind::Assert { condition: self.boxed(condition)?, message: text }, span })
            }
            "assert_eq" | "assert_ne" => {
                let all = arguments()?;
                let (Some(left), Some(right)) = (all.first(), all.iter().nth(1)) else {
                    return error(call, "compare what with what?");
                };
                let (op, sign) = match name.as_str() {
                    "assert_eq" => (BinOp::Eq(Default::default()), "=="),
                    _ => (BinOp::Ne(Default::default()), "!="),
                };
                let otherwise = format!("{} {sign} {}", text(left), text(right));
                let text = message(&all.iter().skip(2).collect::<Vec<_>>(), otherwise)?;
                let kind = ExprKind::Binary(op, self.boxed(left)?, self.boxed(right)?);
                let condition = Box::new(Expr { kind, span });
                Ok(Expr { kind: ExprKind::Assert { condition, message: text }, span })
            }
            "matches" => Ok(Expr { kind: self.matches(call)?, span }),
            "println" | "print" | "eprintln" | "dbg" => error(
                call,
                "a kernel cannot print; write what you want to see to a buffer, and print it after the launch",
            ),
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                error(call, "a kernel cannot panic; write `assert!(condition, \"message\")`, which the launch reports")
            }
            "vec" => error(call, "there is no heap in kernels; use an array, `[0.0; 16]`, or block shared memory"),
            "device_closure" => error(
                call,
                "a closure in a kernel stands where it is passed to a device function: `apply(|x| x * 2.0, y)`",
            ),
            _ => error(call, "a kernel can use the macros assert!, assert_eq!, assert_ne! and matches! alone"),
        }
    }
}

fn text(x: &syn::Expr) -> String {
    // Tokens are spaced widely; close them up as a person would.
    let mut text = x.to_token_stream().to_string();
    for (wide, close) in
        [(" . ", "."), (" (", "("), ("( ", "("), (" )", ")"), (" [", "["), ("[ ", "["), (" ]", "]"), (" ,", ",")]
    {
        text = text.replace(wide, close);
    }
    text
}
