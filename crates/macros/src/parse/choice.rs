//! `match`, and what is one: `if let`, `while let`, `matches!`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Pat, Result};

use super::{Parser, error};
use crate::ast::{Arm, Block, Expr, ExprKind, Pattern, Target};

impl Parser {
    pub(super) fn choice(&mut self, choice: &syn::ExprMatch) -> Result<ExprKind> {
        if choice.arms.is_empty() {
            return error(choice, "a `match` in a kernel has arms; the last one may be `_ => …`");
        }
        let value = self.boxed(&choice.expr)?;
        let arms = choice.arms.iter().map(|arm| {
            let (pattern, guard) = guarded(&arm.pat);
            self.arm(pattern, guard, |parser| Ok(block_of(parser.expr(&arm.body)?)))
        });
        Ok(ExprKind::Match { value, arms: arms.collect::<Result<_>>()? })
    }

    fn arm(
        &mut self,
        pattern: &Pat,
        guard: Option<&syn::Expr>,
        body: impl FnOnce(&mut Self) -> Result<Block>,
    ) -> Result<Arm> {
        self.scoped(|parser| {
            let pattern = parser.pattern(pattern, true)?;
            let guard = guard.map(|guard| parser.expr(guard)).transpose()?;
            Ok(Arm { pattern, guard, body: body(parser)? })
        })
    }

    /// `if let`.
    pub(super) fn if_let(&mut self, binding: &syn::ExprLet, branch: &syn::ExprIf) -> Result<ExprKind> {
        let value = self.boxed(&binding.expr)?;
        let then = self.arm(&binding.pat, None, |parser| parser.block(&branch.then_branch))?;
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => block_of(self.expr(otherwise)?),
            None => Block { statements: Vec::new(), value: None, span: branch.then_branch.span() },
        };
        Ok(ExprKind::Match { value, arms: vec![then, otherwise_arm(binding.pat.span(), otherwise)] })
    }

    /// `while let`, which is a `loop` around a `match`.
    pub(super) fn while_let(
        &mut self,
        binding: &syn::ExprLet,
        repeat: &syn::ExprWhile,
        target: Target,
    ) -> Result<ExprKind> {
        let span = repeat.body.span();
        let value = self.boxed(&binding.expr)?;
        let then = self.arm(&binding.pat, None, |parser| parser.block(&repeat.body))?;
        let leave = Expr { kind: ExprKind::Break { target, value: None }, span };
        let arms = vec![then, otherwise_arm(binding.pat.span(), block_of(leave))];
        let choice = Expr { kind: ExprKind::Match { value, arms }, span };
        Ok(ExprKind::Loop { target, body: Block { span, ..block_of(choice) } })
    }

    /// `matches!(value, pattern)`.
    pub(super) fn matches(&mut self, call: &syn::Macro) -> Result<ExprKind> {
        let (value, pattern, guard) = call.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            let value: syn::Expr = input.parse()?;
            input.parse::<syn::Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guarded: Option<syn::Token![if]> = input.parse()?;
            let guard: Option<syn::Expr> = guarded.map(|_| input.parse()).transpose()?;
            input.parse::<Option<syn::Token![,]>>()?;
            Ok((value, pattern, guard))
        })?;
        let span = call.path.span();
        let truth = |value: bool| {
            let literal = syn::Lit::Bool(syn::LitBool::new(value, span));
            block_of(Expr { kind: ExprKind::Literal(literal), span })
        };
        let value = self.boxed(&value)?;
        let then = self.arm(&pattern, guard.as_ref(), |_| Ok(truth(true)))?;
        Ok(ExprKind::Match { value, arms: vec![then, otherwise_arm(pattern.span(), truth(false))] })
    }
}

fn guarded(pattern: &Pat) -> (&Pat, Option<&syn::Expr>) {
    match pattern {
        Pat::Guard(guarded) => (&guarded.pat, Some(&guarded.guard)),
        pattern => (pattern, None),
    }
}

fn otherwise_arm(span: Span, body: Block) -> Arm {
    Arm { pattern: Pattern::Wild(span), guard: None, body }
}

/// A block of one expression.
fn block_of(value: Expr) -> Block {
    let span = value.span;
    Block { statements: Vec::new(), value: Some(Box::new(value)), span }
}
