//! Macros in kernels: the assertions and `matches!`, and the refusal of all others.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Lit, Result};

use super::{Parser, error};
use crate::ast::{Block, Expr, ExprKind, Operator, Statement};

impl Parser {
    pub(super) fn macro_call(&mut self, call: &syn::Macro) -> Result<Expr> {
        let span = call.path.span();
        let name = call.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let arguments =
            || call.parse_body_with(syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        match name.as_str() {
            "assert" | "debug_assert" => {
                let all = arguments()?;
                let Some(condition) = all.first() else { return error(call, "assert what?") };
                let (parsed, otherwise) = (self.boxed(condition)?, text(condition));
                self.assertion(parsed, &all.iter().skip(1).collect::<Vec<_>>(), otherwise, span)
            }
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                let all = arguments()?;
                let (Some(left), Some(right)) = (all.first(), all.iter().nth(1)) else {
                    return error(call, "compare what with what?");
                };
                let (op, sign) = match name.as_str() {
                    "assert_eq" | "debug_assert_eq" => (BinOp::Eq(Default::default()), "=="),
                    _ => (BinOp::Ne(Default::default()), "!="),
                };
                let otherwise = format!("{} {sign} {}", text(left), text(right));
                let kind = ExprKind::Binary(Operator::of_numbers(op), self.boxed(left)?, self.boxed(right)?);
                let condition = Box::new(Expr { kind, span });
                self.assertion(condition, &all.iter().skip(2).collect::<Vec<_>>(), otherwise, span)
            }
            "println" => {
                let all = arguments()?;
                let message = self.message(&all.iter().collect::<Vec<_>>())?;
                Ok(Expr { kind: ExprKind::Print(message), span })
            }
            "matches" => Ok(Expr { kind: self.matches(call)?, span }),
            "print" | "eprint" | "eprintln" | "dbg" | "write" | "writeln" | "format" => {
                error(call, "a kernel prints whole lines: `println!(\"x = {}\", x)`")
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                error(call, "a kernel cannot panic; write `assert!(condition, \"message\")`, which the launch reports")
            }
            "vec" => error(call, "there is no heap in kernels; use an array, `[0.0; 16]`, or block shared memory"),
            "device_closure" => error(
                call,
                "a closure in a kernel stands where it is passed to a device function: `apply(|x| x * 2.0, y)`",
            ),
            _ => {
                error(call, "a kernel can use the macros assert!, assert_eq!, assert_ne!, println! and matches! alone")
            }
        }
    }

    /// An assertion with its message, or with the text of its condition where it has none.
    fn assertion(
        &mut self,
        condition: Box<Expr>,
        message: &[&syn::Expr],
        otherwise: String,
        span: Span,
    ) -> Result<Expr> {
        let message = if message.is_empty() { self.plain_message(&otherwise, span) } else { self.message(message)? };
        if message.arguments.iter().all(Expr::is_pure) {
            return Ok(Expr { kind: ExprKind::Assert { condition, message }, span });
        }
        // The values are computed where the assertion fails alone.
        let never = Expr { kind: ExprKind::Literal(Lit::Bool(syn::LitBool::new(false, span))), span };
        let fail = Expr { kind: ExprKind::Assert { condition: Box::new(never), message }, span };
        let then = Block { statements: vec![Statement::Do(fail)], value: None, span };
        let condition = Box::new(Expr { kind: ExprKind::Not(condition), span });
        Ok(Expr { kind: ExprKind::If { condition, then, otherwise: None }, span })
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
