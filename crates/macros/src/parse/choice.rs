//! `match`, and what is one: `if let`, `while let`, chains of them, `matches!`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Pat, Result};

use super::{Parser, error};
use crate::ast::{Arm, Block, BreakTarget, Expr, ExprKind, Pattern, Statement};

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

    /// `if`, with conditions, patterns or both.
    pub(super) fn branch(&mut self, branch: &syn::ExprIf) -> Result<ExprKind> {
        if let syn::Expr::Let(binding) = &*branch.cond {
            return self.if_let(binding, branch);
        }
        if is_chain(&branch.cond) {
            return self.if_chain(branch);
        }
        let condition = self.boxed(&branch.cond)?;
        let then = self.block(&branch.then_branch)?;
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => Some(self.boxed(otherwise)?),
            None => None,
        };
        Ok(ExprKind::If { condition, then, otherwise })
    }

    /// Parses an `if let` expression.
    fn if_let(&mut self, binding: &syn::ExprLet, branch: &syn::ExprIf) -> Result<ExprKind> {
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
        target: BreakTarget,
    ) -> Result<ExprKind> {
        let span = repeat.body.span();
        let value = self.boxed(&binding.expr)?;
        let then = self.arm(&binding.pat, None, |parser| parser.block(&repeat.body))?;
        let leave = Expr { kind: ExprKind::Break { target, value: None }, span };
        let arms = vec![then, otherwise_arm(binding.pat.span(), block_of(leave))];
        let choice = Expr { kind: ExprKind::Match { value, arms }, span };
        Ok(ExprKind::Loop { target, body: Block { span, ..block_of(choice) } })
    }

    /// `if a && let b = c { … }`: a block that is left with the value of the branch, or goes on to the other one.
    fn if_chain(&mut self, branch: &syn::ExprIf) -> Result<ExprKind> {
        let (target, span) = (self.targets, branch.then_branch.span());
        self.targets += 1;
        let has_value = branch.else_branch.is_some();
        let tests = self.chain(&links(&branch.cond), &mut |parser| {
            let then = parser.block(&branch.then_branch)?;
            let is_left = then.diverges();
            let then = Expr { kind: ExprKind::Block(then), span };
            let (first, value) = match has_value && !is_left {
                true => (None, Some(Box::new(then))),
                false => (Some(then), None),
            };
            let leave = (!is_left).then_some(Expr { kind: ExprKind::Break { target, value }, span });
            let statements = first.into_iter().chain(leave).map(Statement::Do).collect();
            Ok(Block { statements, value: None, span })
        })?;
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => Some(self.boxed(otherwise)?),
            None => None,
        };
        let statements = vec![Statement::Do(Expr { kind: ExprKind::Block(tests), span })];
        Ok(ExprKind::Labelled { target, body: Block { statements, value: otherwise, span } })
    }

    /// `while a && let b = c { … }`: a `loop` that is left where one of the links does not hold.
    pub(super) fn while_chain(&mut self, repeat: &syn::ExprWhile, target: BreakTarget) -> Result<ExprKind> {
        let (held, span) = (self.targets, repeat.body.span());
        self.targets += 1;
        let leave = |target| Statement::Do(Expr { kind: ExprKind::Break { target, value: None }, span });
        let tests = self.chain(&links(&repeat.cond), &mut |parser| {
            let body = Expr { kind: ExprKind::Block(parser.block(&repeat.body)?), span };
            Ok(Block { statements: vec![Statement::Do(body), leave(held)], value: None, span })
        })?;
        let statements = vec![Statement::Do(Expr { kind: ExprKind::Block(tests), span }), leave(target)];
        let body = Block { statements, value: None, span };
        let once = Expr { kind: ExprKind::Labelled { target: held, body }, span };
        Ok(ExprKind::Loop { target, body: Block { statements: vec![Statement::Do(once)], value: None, span } })
    }

    /// What is done where all links hold, with the names that they bind.
    fn chain(&mut self, links: &[&syn::Expr], then: &mut dyn FnMut(&mut Self) -> Result<Block>) -> Result<Block> {
        let Some((first, others)) = links.split_first() else { return then(self) };
        let span = first.span();
        let kind = match first {
            syn::Expr::Let(binding) => {
                let value = self.boxed(&binding.expr)?;
                let held = self.arm(&binding.pat, None, |parser| parser.chain(others, then))?;
                let nothing = Block { statements: Vec::new(), value: None, span };
                ExprKind::Match { value, arms: vec![held, otherwise_arm(span, nothing)] }
            }
            condition => {
                let condition = self.boxed(condition)?;
                ExprKind::If { condition, then: self.chain(others, then)?, otherwise: None }
            }
        };
        Ok(Block { statements: vec![Statement::Do(Expr { kind, span })], value: None, span })
    }

    /// Parses the macro call `matches!(value, pattern)`.
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

/// Whether a condition has a `let` among others.
pub(super) fn is_chain(condition: &syn::Expr) -> bool {
    let links = links(condition);
    links.len() > 1 && links.iter().any(|link| matches!(link, syn::Expr::Let(_)))
}

/// The conditions that `&&` joins.
fn links(condition: &syn::Expr) -> Vec<&syn::Expr> {
    match condition {
        syn::Expr::Binary(syn::ExprBinary { op: syn::BinOp::And(_), left, right, .. }) => {
            links(left).into_iter().chain(links(right)).collect()
        }
        condition => vec![condition],
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
