//! From Rust's syntax to the subset of kernels. Everything outside it is refused here, at its own span, in words that
//! name the way out.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Lit, Pat, Result, UnOp};

use crate::ast::{Block, Class, Expr, ExprKind, Local, Pattern, Place, Statement};

/// Methods that are mathematical functions, with the number of their arguments.
const MATH: [(&str, usize); 21] = [
    ("abs", 0),
    ("min", 1),
    ("max", 1),
    ("clamp", 2),
    ("sqrt", 0),
    ("rsqrt", 0),
    ("exp", 0),
    ("ln", 0),
    ("sin", 0),
    ("cos", 0),
    ("tanh", 0),
    ("pow", 1),
    ("fma", 2),
    ("floor", 0),
    ("ceil", 0),
    ("round", 0),
    ("is_nan", 0),
    ("count_ones", 0),
    ("leading_zeros", 0),
    ("trailing_zeros", 0),
    ("to_bits", 0),
];

/// Methods of `Acc`, views and index maps.
const METHODS: [&str; 56] = [
    "thread_in_grid",
    "thread_in_block",
    "block_in_grid",
    "threads_in_grid",
    "threads_in_block",
    "blocks_in_grid",
    "frames",
    "frame_extent",
    "linear_thread_in_grid",
    "linear_thread_in_block",
    "linear_block_in_grid",
    "linear_threads_in_grid",
    "linear_threads_in_block",
    "linear_blocks_in_grid",
    "sync_block",
    "mem_fence",
    "indices",
    "items",
    "contiguous",
    "strided",
    "step_by",
    "rev",
    "extent",
    "len",
    "is_empty",
    "lanes",
    "load",
    "load_with",
    "store",
    "store_with",
    "exchange",
    "exchange_with",
    "compare_exchange",
    "compare_exchange_with",
    "fetch_add",
    "fetch_add_with",
    "fetch_sub",
    "fetch_sub_with",
    "fetch_min",
    "fetch_min_with",
    "fetch_max",
    "fetch_max_with",
    "fetch_and",
    "fetch_and_with",
    "fetch_or",
    "fetch_or_with",
    "fetch_xor",
    "fetch_xor_with",
    "fetch_inc",
    "fetch_inc_with",
    "fetch_dec",
    "fetch_dec_with",
    "shared",
    "shared_atomic",
    "shared_at_launch",
    "shared_atomic_at_launch",
];

const SHARED: [&str; 4] = ["shared", "shared_atomic", "shared_at_launch", "shared_atomic_at_launch"];

/// Methods of the standard library that have another name here, or that cannot be.
const ELSEWHERE: [(&str, &str); 22] = [
    ("powf", "write `x.pow(y)`"),
    ("powi", "write `x.pow(n as f32)`, or multiply"),
    ("mul_add", "write `x.fma(y, z)`"),
    ("wrapping_add", "integers wrap in kernels: write `x + y`"),
    ("wrapping_sub", "integers wrap in kernels: write `x - y`"),
    ("wrapping_mul", "integers wrap in kernels: write `x * y`"),
    ("iter", "index it in a loop: `for i in 0..N { x[i] }`"),
    ("iter_mut", "write `for (i, x) in acc.items(&mut out)`, or index it in a loop"),
    ("into_iter", "index it in a loop: `for i in 0..N { x[i] }`"),
    ("get", "write `x[i]`: every index is checked, and one that is out of bounds gives 0 and a fault"),
    ("get_unchecked", "write `x[i]`: every index is checked"),
    ("unwrap", "there is no `Option` or `Result` in kernels"),
    ("clone", "values in kernels are copied: write the name alone"),
    ("swap", "write `x.exchange(i, value)` on `Atomic` memory"),
    ("compare_and_swap", "write `x.compare_exchange(i, expected, desired)`, which gives the old value"),
    ("compare_exchange_weak", "write `x.compare_exchange(i, expected, desired)`, which gives the old value"),
    ("for_each", "write a `for` loop"),
    ("map", "write a `for` loop"),
    ("sum", "add up in a `for` loop"),
    ("into", "write a conversion: `x as f32`"),
    ("tan", "write `x.sin() / x.cos()`"),
    ("log2", "write `x.ln() / 2f32.ln()`, with the constant worked out"),
];

pub fn error<T>(at: impl Spanned, message: &str) -> Result<T> {
    Err(Error::new(at.span(), message))
}

/// The variables in scope.
pub struct Parser {
    scopes: Vec<HashMap<String, Local>>,
    /// The labels of the loops around.
    labels: Vec<Option<String>>,
    next: usize,
    pub returns: bool,
    /// Whether shared memory may be declared: at the top of a kernel.
    shared_allowed: bool,
    is_kernel: bool,
}

impl Parser {
    pub fn new(is_kernel: bool) -> Self {
        Parser {
            scopes: vec![HashMap::new()],
            labels: Vec::new(),
            next: 0,
            returns: false,
            shared_allowed: false,
            is_kernel,
        }
    }

    pub fn declare(&mut self, name: &Ident, mutable: bool) -> Local {
        let local = Local { name: name.clone(), mutable, number: self.next };
        self.next += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), local.clone());
        }
        local
    }

    fn find(&self, name: &Ident) -> Option<Local> {
        let name = name.to_string();
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(&name))?;
        // Errors and lines belong to where it is used.
        Some(found.clone())
    }

    fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(HashMap::new());
        let parsed = parse(self);
        self.scopes.pop();
        parsed
    }

    fn in_loop<T>(&mut self, label: &Option<syn::Label>, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.labels.push(label.as_ref().map(|label| label.name.ident.to_string()));
        let parsed = parse(self);
        self.labels.pop();
        parsed
    }

    /// The body of the function: shared memory may be declared directly in it.
    pub fn body(&mut self, block: &syn::Block) -> Result<Block> {
        self.statements(&block.stmts, true)
    }

    fn block(&mut self, block: &syn::Block) -> Result<Block> {
        self.scoped(|parser| parser.statements(&block.stmts, false))
    }

    fn statements(&mut self, statements: &[syn::Stmt], top: bool) -> Result<Block> {
        let mut parsed = Vec::new();
        let mut value = None;
        for (number, statement) in statements.iter().enumerate() {
            let last = number + 1 == statements.len();
            match statement {
                syn::Stmt::Local(local) => parsed.push(self.binding(local, top)?),
                syn::Stmt::Item(item) => {
                    return error(item, "a kernel cannot hold items; move this out of the function");
                }
                syn::Stmt::Expr(x, semicolon) => {
                    let x = self.expr(x)?;
                    if last && semicolon.is_none() {
                        value = Some(Box::new(x));
                    } else {
                        parsed.push(Statement::Do(x));
                    }
                }
                syn::Stmt::Macro(statement) => parsed.push(Statement::Do(self.macro_call(&statement.mac)?)),
            }
        }
        Ok(Block { statements: parsed, value })
    }

    fn binding(&mut self, local: &syn::Local, top: bool) -> Result<Statement> {
        let Some(init) = &local.init else {
            return error(local, "a variable in a kernel is given a value where it is declared: `let mut x = 0.0;`");
        };
        if let Some((_, otherwise)) = &init.diverge {
            return error(otherwise, "there is no `let … else` in kernels; use `if`");
        }
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some((*typed.ty).clone())),
            pattern => (pattern, None),
        };
        if let Some(ty) = &ty {
            check_type(ty)?;
        }
        self.shared_allowed = top && self.is_kernel && matches!(pattern, Pat::Ident(_));
        let value = self.expr(&init.expr);
        self.shared_allowed = false;
        let value = value?;
        let pattern = self.pattern(pattern)?;
        Ok(Statement::Let { pattern, ty, value })
    }

    fn pattern(&mut self, pattern: &Pat) -> Result<Pattern> {
        match pattern {
            Pat::Ident(name) => {
                if name.by_ref.is_some() || name.subpat.is_some() {
                    return error(name, "patterns in kernels are names, `_`, tuples `(a, b)` and arrays `[y, x]`");
                }
                Ok(Pattern::Local(self.declare(&name.ident, name.mutability.is_some())))
            }
            Pat::Wild(wild) => Ok(Pattern::Wild(wild.span())),
            Pat::Tuple(tuple) => {
                tuple.elems.iter().map(|x| self.pattern(x)).collect::<Result<_>>().map(Pattern::Tuple)
            }
            Pat::Slice(slice) => {
                slice.elems.iter().map(|x| self.pattern(x)).collect::<Result<_>>().map(Pattern::Array)
            }
            Pat::Paren(inner) => self.pattern(&inner.pat),
            other => error(other, "patterns in kernels are names, `_`, tuples `(a, b)` and arrays `[y, x]`"),
        }
    }

    fn boxed(&mut self, x: &syn::Expr) -> Result<Box<Expr>> {
        self.expr(x).map(Box::new)
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e syn::Expr>) -> Result<Vec<Expr>> {
        all.into_iter().map(|x| self.expr(x)).collect()
    }

    fn expr(&mut self, x: &syn::Expr) -> Result<Expr> {
        let span = x.span();
        let shared_allowed = std::mem::replace(&mut self.shared_allowed, false);
        let kind = match x {
            syn::Expr::Lit(literal) => ExprKind::Literal(number(&literal.lit)?),
            syn::Expr::Paren(inner) => return self.expr(&inner.expr),
            syn::Expr::Group(inner) => return self.expr(&inner.expr),
            syn::Expr::Path(path) => self.path(path)?,
            syn::Expr::Unary(unary) => match unary.op {
                UnOp::Neg(_) => match &*unary.expr {
                    syn::Expr::Lit(literal) => ExprKind::NegativeLiteral(number(&literal.lit)?),
                    operand => ExprKind::Negate(self.boxed(operand)?),
                },
                UnOp::Not(_) => ExprKind::Not(self.boxed(&unary.expr)?),
                _ => ExprKind::Deref(self.boxed(&unary.expr)?),
            },
            syn::Expr::Binary(binary) => self.binary(binary)?,
            syn::Expr::Assign(assign) => {
                let value = self.boxed(&assign.right)?;
                ExprKind::Assign(Box::new(self.place(&assign.left)?), value)
            }
            syn::Expr::Index(index) => {
                if let syn::Expr::Range(range) = &*index.index {
                    return error(range, "there are no slices in kernels; pass a view of the part you want, or index");
                }
                ExprKind::Index(self.boxed(&index.expr)?, self.boxed(&index.index)?)
            }
            syn::Expr::MethodCall(call) => self.method(call, shared_allowed)?,
            syn::Expr::Call(call) => self.call(call)?,
            syn::Expr::Cast(cast) => {
                check_cast(&cast.ty)?;
                ExprKind::Cast(self.boxed(&cast.expr)?, (*cast.ty).clone())
            }
            syn::Expr::If(branch) => {
                if let syn::Expr::Let(binding) = &*branch.cond {
                    return error(binding, "there is no `if let` in kernels; compare: `if x == 3`");
                }
                let condition = self.boxed(&branch.cond)?;
                let then = self.block(&branch.then_branch)?;
                let otherwise = match &branch.else_branch {
                    Some((_, otherwise)) => Some(self.boxed(otherwise)?),
                    None => None,
                };
                ExprKind::If { condition, then, otherwise }
            }
            syn::Expr::While(repeat) => {
                if let syn::Expr::Let(binding) = &*repeat.cond {
                    return error(binding, "there is no `while let` in kernels; use `loop` and `break`");
                }
                let condition = self.boxed(&repeat.cond)?;
                let body = self.in_loop(&repeat.label, |parser| parser.block(&repeat.body))?;
                ExprKind::While { label: label(&repeat.label), condition, body }
            }
            syn::Expr::Loop(repeat) => {
                let body = self.in_loop(&repeat.label, |parser| parser.block(&repeat.body))?;
                ExprKind::Loop { label: label(&repeat.label), body }
            }
            syn::Expr::ForLoop(repeat) => {
                let source = self.boxed(&repeat.expr)?;
                check_source(&source)?;
                let (pattern, body) = self.scoped(|parser| {
                    let pattern = parser.pattern(&repeat.pat)?;
                    let body = parser.in_loop(&repeat.label, |parser| parser.block(&repeat.body))?;
                    Ok((pattern, body))
                })?;
                ExprKind::For { label: label(&repeat.label), pattern, source, body }
            }
            syn::Expr::Block(block) => {
                if let Some(label) = &block.label {
                    return error(label, "blocks in kernels have no labels; label a loop");
                }
                ExprKind::Block(self.block(&block.block)?)
            }
            syn::Expr::Match(choice) => self.choice(choice)?,
            syn::Expr::Break(leave) => {
                if let Some(value) = &leave.expr {
                    return error(value, "`break` has no value in kernels; assign to a `let mut` before the loop");
                }
                self.check_label(&leave.label)?;
                ExprKind::Break(leave.label.clone())
            }
            syn::Expr::Continue(next) => {
                self.check_label(&next.label)?;
                ExprKind::Continue(next.label.clone())
            }
            syn::Expr::Return(leave) => {
                self.returns = true;
                ExprKind::Return(match &leave.expr {
                    Some(value) => Some(self.boxed(value)?),
                    None => None,
                })
            }
            syn::Expr::Tuple(tuple) => ExprKind::Tuple(self.exprs(&tuple.elems)?),
            syn::Expr::Field(field) => match &field.member {
                syn::Member::Unnamed(index) => ExprKind::Field(self.boxed(&field.base)?, index.clone()),
                syn::Member::Named(name) => {
                    return error(name, "there are no structs in kernels; use a tuple, or pass the fields by themselves");
                }
            },
            syn::Expr::Array(array) => ExprKind::Array(self.exprs(&array.elems)?),
            syn::Expr::Repeat(repeat) => ExprKind::Repeat(self.boxed(&repeat.expr)?, (*repeat.len).clone()),
            syn::Expr::Range(range) => {
                let (Some(begin), Some(end)) = (&range.start, &range.end) else {
                    return error(range, "a range in a kernel has a begin and an end: `0..n`");
                };
                let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
                ExprKind::Range { begin: self.boxed(begin)?, end: self.boxed(end)?, inclusive }
            }
            syn::Expr::Reference(reference) => match (&reference.mutability, &*reference.expr) {
                (Some(_), inner @ syn::Expr::Path(_)) => ExprKind::Exclusive(self.boxed(inner)?),
                _ => {
                    return error(
                        reference,
                        "there are no references in kernels, but `acc.items(&mut out)`; pass the value or the view itself",
                    );
                }
            },
            syn::Expr::Macro(call) => return self.macro_call(&call.mac),
            other => return refuse(other),
        };
        Ok(Expr { kind, span })
    }

    fn path(&mut self, path: &syn::ExprPath) -> Result<ExprKind> {
        if let Some(qself) = &path.qself {
            return error(qself.ty.span(), "qualified paths are not for kernels; write `T::ZERO`");
        }
        if let Some(name) = path.path.get_ident()
            && let Some(local) = self.find(name)
        {
            return Ok(ExprKind::Local(Local { name: name.clone(), ..local }));
        }
        Ok(ExprKind::Constant(path.path.clone()))
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Result<ExprKind> {
        if let Some(op) = plain(&binary.op) {
            let value = self.boxed(&binary.right)?;
            return Ok(ExprKind::AssignWith(op, Box::new(self.place(&binary.left)?), value));
        }
        Ok(ExprKind::Binary(binary.op, self.boxed(&binary.left)?, self.boxed(&binary.right)?))
    }

    fn place(&mut self, x: &syn::Expr) -> Result<Place> {
        match self.expr(x)?.kind {
            ExprKind::Local(local) => Ok(Place::Local(local)),
            ExprKind::Index(base, index) => Ok(Place::Index(*base, *index)),
            ExprKind::Deref(item) => Ok(Place::Deref(*item)),
            ExprKind::Field(..) => error(x, "a tuple is assigned as a whole: `pair = (a, b);`"),
            _ => error(x, "a kernel assigns to variables, elements `x[i]`, and items `*x`"),
        }
    }

    fn method(&mut self, call: &syn::ExprMethodCall, shared_allowed: bool) -> Result<ExprKind> {
        let name = call.method.to_string();
        if SHARED.contains(&name.as_str()) && !shared_allowed {
            return error(
                &call.method,
                "block shared memory is declared by a `let` at the top of a kernel: `let tile = acc.shared::<f32, 64>();` \
                 (pass it to device functions by value)",
            );
        }
        if let Some((_, arguments)) = MATH.iter().find(|(known, _)| *known == name) {
            if call.args.len() != *arguments {
                let message = format!("`{name}` takes {arguments} arguments here, besides what it is called on");
                return error(&call.method, &message);
            }
            let mut operands = vec![self.expr(&call.receiver)?];
            operands.extend(self.exprs(&call.args)?);
            return Ok(ExprKind::Math { name: call.method.clone(), operands });
        }
        if let Some((_, instead)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            return error(&call.method, &format!("a kernel cannot call `{name}`; {instead}"));
        }
        if !METHODS.contains(&name.as_str()) {
            let message = format!(
                "a kernel cannot call `{name}`; it can call the methods of `Acc` and of views, mathematical functions, \
                 and functions that are marked `#[device_fn]`"
            );
            return error(&call.method, &message);
        }
        let receiver = self.boxed(&call.receiver)?;
        let arguments = self.exprs(&call.args)?;
        Ok(ExprKind::Method { receiver, name: call.method.clone(), generics: call.turbofish.clone(), arguments })
    }

    fn call(&mut self, call: &syn::ExprCall) -> Result<ExprKind> {
        let syn::Expr::Path(function) = &*call.func else {
            return error(&call.func, "a kernel can call functions that are marked `#[device_fn]`, by their path");
        };
        let path = &function.path;
        let segments = &path.segments;
        if let Some(last) = segments.last() {
            let name = last.ident.to_string();
            if name == "from_bits" && segments.len() > 1 && call.args.len() == 1 {
                let mut ty = path.clone();
                ty.segments.pop();
                ty.segments.pop_punct();
                let bits = self.boxed(&call.args[0])?;
                return Ok(ExprKind::FromBits { ty, bits });
            }
            if name.starts_with(char::is_uppercase) {
                return error(path, "there are no structs and enums in kernels; use numbers, tuples and arrays");
            }
        }
        Ok(ExprKind::Call { path: path.clone(), arguments: self.exprs(&call.args)? })
    }

    /// `match` as a chain of comparisons: both emitters then have one thing less to know.
    fn choice(&mut self, choice: &syn::ExprMatch) -> Result<ExprKind> {
        let value = self.expr(&choice.expr)?;
        let span = value.span;
        self.scoped(|parser| {
            let name = Ident::new("matched", Span::mixed_site());
            let matched = Local { name, mutable: false, number: parser.next };
            parser.next += 1;
            let mut chain = None;
            for (number, arm) in choice.arms.iter().enumerate().rev() {
                if let Pat::Guard(guard) = &arm.pat {
                    return error(&guard.guard, "there are no guards in kernels; use `if` in the arm");
                }
                let body = |parser: &mut Self| -> Result<Block> {
                    let value = parser.expr(&arm.body)?;
                    Ok(Block { statements: Vec::new(), value: Some(Box::new(value)) })
                };
                let last = number + 1 == choice.arms.len();
                if last {
                    chain = Some(parser.scoped(|parser| {
                        let statements = match &arm.pat {
                            Pat::Wild(_) => Vec::new(),
                            Pat::Ident(name) => {
                                let kind = ExprKind::Local(matched.clone());
                                let value = Expr { kind, span: name.span() };
                                let pattern = parser.pattern(&arm.pat)?;
                                vec![Statement::Let { pattern, ty: None, value }]
                            }
                            other => return error(other, "the last arm of a `match` in a kernel is `_ => …`"),
                        };
                        let Block { value, .. } = body(parser)?;
                        let kind = ExprKind::Block(Block { statements, value });
                        Ok(Expr { kind, span: arm.span() })
                    })?);
                    continue;
                }
                let condition = Box::new(parser.arm_condition(&matched, &arm.pat)?);
                let then = parser.scoped(body)?;
                let kind = ExprKind::If { condition, then, otherwise: chain.map(Box::new) };
                chain = Some(Expr { kind, span: arm.span() });
            }
            let Some(chain) = chain else {
                return error(choice, "the last arm of a `match` in a kernel is `_ => …`");
            };
            let statements = vec![Statement::Let { pattern: Pattern::Local(matched), ty: None, value }];
            Ok(ExprKind::Block(Block { statements, value: Some(Box::new(Expr { span, ..chain })) }))
        })
    }

    fn arm_condition(&mut self, matched: &Local, pattern: &Pat) -> Result<Expr> {
        let span = pattern.span();
        let matched_expr = || Box::new(Expr { kind: ExprKind::Local(matched.clone()), span });
        let compare = |op, with: Expr| Expr { kind: ExprKind::Binary(op, matched_expr(), Box::new(with)), span };
        match pattern {
            Pat::Lit(literal) => {
                let value = self.expr(&syn::Expr::Lit(literal.clone()))?;
                Ok(compare(BinOp::Eq(Default::default()), value))
            }
            Pat::Ident(name) if name.ident.to_string().starts_with(char::is_uppercase) => {
                let value = Expr { kind: ExprKind::Constant(name.ident.clone().into()), span };
                Ok(compare(BinOp::Eq(Default::default()), value))
            }
            Pat::Path(path) => {
                let value = Expr { kind: ExprKind::Constant(path.path.clone()), span };
                Ok(compare(BinOp::Eq(Default::default()), value))
            }
            Pat::Range(range) => match (&range.start, &range.end) {
                (Some(begin), Some(end)) => {
                    let (begin, end) = (self.expr(begin)?, self.expr(end)?);
                    let above = compare(BinOp::Ge(Default::default()), begin);
                    let op = match range.limits {
                        syn::RangeLimits::Closed(_) => BinOp::Le(Default::default()),
                        syn::RangeLimits::HalfOpen(_) => BinOp::Lt(Default::default()),
                    };
                    let kind =
                        ExprKind::Binary(BinOp::And(Default::default()), Box::new(above), Box::new(compare(op, end)));
                    Ok(Expr { kind, span })
                }
                _ => error(range, "a range in a pattern has a begin and an end: `0..=9`"),
            },
            Pat::Or(any) => {
                let mut conditions = Vec::new();
                for pattern in &any.cases {
                    conditions.push(self.arm_condition(matched, pattern)?);
                }
                let or = |x, y| Expr {
                    kind: ExprKind::Binary(BinOp::Or(Default::default()), Box::new(x), Box::new(y)),
                    span,
                };
                match conditions.into_iter().reduce(or) {
                    Some(condition) => Ok(condition),
                    None => error(any, "an empty pattern"),
                }
            }
            Pat::Paren(inner) => self.arm_condition(matched, &inner.pat),
            other => error(other, "a `match` in a kernel is on integers: `3`, `3 | 4`, `5..=9`, and `_` last"),
        }
    }

    fn check_label(&self, label: &Option<syn::Lifetime>) -> Result<()> {
        let Some(label) = label else {
            return Ok(());
        };
        let name = label.ident.to_string();
        if self.labels.iter().any(|known| known.as_ref() == Some(&name)) {
            return Ok(());
        }
        error(label, "no loop around has this label")
    }

    fn macro_call(&mut self, call: &syn::Macro) -> Result<Expr> {
        let span = call.path.span();
        let name = call.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let arguments = || {
            call.parse_body_with(syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated)
        };
        let message = |all: &[&syn::Expr], otherwise: String| match all {
            [] => Ok(otherwise),
            [syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. })] if !text.value().contains('{') => Ok(text.value()),
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
            "println" | "print" | "eprintln" | "dbg" => error(
                call,
                "a kernel cannot print; write what you want to see to a buffer, and print it after the launch",
            ),
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                error(call, "a kernel cannot panic; write `assert!(condition, \"message\")`, which the launch reports")
            }
            "vec" => error(call, "there is no heap in kernels; use an array, `[0.0; 16]`, or block shared memory"),
            _ => error(call, "a kernel can use the macros assert!, assert_eq! and assert_ne! alone"),
        }
    }
}

fn text(x: &syn::Expr) -> String {
    // Tokens are spaced widely; close them up as a person would.
    let mut text = x.to_token_stream().to_string();
    for (wide, close) in [(" . ", "."), (" (", "("), ("( ", "("), (" )", ")"), (" [", "["), ("[ ", "["), (" ]", "]"), (" ,", ",")] {
        text = text.replace(wide, close);
    }
    text
}

fn label(label: &Option<syn::Label>) -> Option<syn::Lifetime> {
    label.as_ref().map(|label| label.name.clone())
}

fn number(literal: &Lit) -> Result<Lit> {
    match literal {
        Lit::Int(number) if matches!(number.suffix(), "usize" | "isize" | "u128" | "i128") => {
            error(number, "kernels know 8 to 64 bits; indices and extents are `u32`")
        }
        Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) => Ok(literal.clone()),
        other => error(other, "there is no text in kernels; literals are numbers, `true` and `false`"),
    }
}

/// The operator of a compound assignment.
fn plain(op: &BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::AddAssign(_) => BinOp::Add(Default::default()),
        BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
        BinOp::MulAssign(_) => BinOp::Mul(Default::default()),
        BinOp::DivAssign(_) => BinOp::Div(Default::default()),
        BinOp::RemAssign(_) => BinOp::Rem(Default::default()),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::ShlAssign(_) => BinOp::Shl(Default::default()),
        BinOp::ShrAssign(_) => BinOp::Shr(Default::default()),
        _ => return None,
    })
}

/// What a `for` goes over: a range, or an index map.
fn check_source(source: &Expr) -> Result<()> {
    match &source.kind {
        ExprKind::Range { .. } => Ok(()),
        ExprKind::Method { name, .. }
            if matches!(
                name.to_string().as_str(),
                "indices" | "items" | "contiguous" | "strided" | "step_by" | "rev"
            ) =>
        {
            Ok(())
        }
        _ => Err(Error::new(
            source.span,
            "a `for` in a kernel goes over a range (`0..n`, with `.rev()` or `.step_by(k)`), `acc.indices(…)` or \
             `acc.items(…)`",
        )),
    }
}

/// Refuses the types that kernels do not know.
pub fn check_type(ty: &syn::Type) -> Result<()> {
    match ty {
        syn::Type::Path(path) => {
            let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            match name.as_str() {
                "usize" | "isize" => error(ty, "indices and extents in kernels are `u32`"),
                "u128" | "i128" | "f16" | "f128" => {
                    error(ty, "kernels know u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 and bool")
                }
                "char" | "String" | "str" => error(ty, "there is no text in kernels"),
                "Vec" | "Box" | "Rc" | "Arc" => {
                    error(ty, "there is no heap in kernels; use an array, `[f32; 16]`, or block shared memory")
                }
                "Option" | "Result" => error(ty, "there is no `Option` or `Result` in kernels; use numbers and `bool`"),
                _ => Ok(()),
            }
        }
        syn::Type::Tuple(tuple) => tuple.elems.iter().try_for_each(check_type),
        syn::Type::Array(array) => check_type(&array.elem),
        syn::Type::Paren(inner) => check_type(&inner.elem),
        syn::Type::Infer(_) => Ok(()),
        syn::Type::Reference(_) | syn::Type::Ptr(_) | syn::Type::Slice(_) => error(
            ty,
            "there are no references, pointers and slices in kernels; use a view: `Read<T>`, `PerItem<T>`, `Shared<T>`, \
             `Atomic<T>`",
        ),
        other => error(other, "kernels know numbers, bool, tuples and fixed arrays of numbers, and views"),
    }
}

fn check_cast(ty: &syn::Type) -> Result<()> {
    check_type(ty)?;
    match ty {
        syn::Type::Path(path) if path.path.is_ident("bool") => error(ty, "write `x != 0`"),
        syn::Type::Path(_) => Ok(()),
        other => error(other, "a kernel converts between numbers"),
    }
}

fn refuse<T>(x: &syn::Expr) -> Result<T> {
    match x {
        syn::Expr::Closure(_) => error(x, "there are no closures in kernels; write a function and mark it `#[device_fn]`"),
        syn::Expr::Unsafe(unsafe_block) => {
            error(unsafe_block.unsafe_token, "there is nothing unsafe in kernels: every access is checked")
        }
        syn::Expr::Struct(_) => error(x, "there are no structs in kernels; use numbers, tuples and arrays"),
        syn::Expr::Try(_) => error(x, "there is no `?` in kernels; write `assert!(…)`, which the launch reports"),
        syn::Expr::Async(_) | syn::Expr::Await(_) => error(x, "a kernel is not asynchronous; its launch is"),
        syn::Expr::Let(_) => error(x, "there is no `let` in conditions of kernels; compare: `if x == 3`"),
        _ => error(x, "this is outside the subset of Rust that kernels are written in (see the documentation of `kernel`)"),
    }
}

/// What the type of a parameter says.
pub fn class(ty: &syn::Type) -> Result<Class> {
    use crate::ast::View;
    if let syn::Type::Reference(reference) = ty {
        if let syn::Type::Path(path) = &*reference.elem
            && let Some(last) = path.path.segments.last()
            && last.ident == "Acc"
            && reference.mutability.is_none()
        {
            let dimensions = match &last.arguments {
                syn::PathArguments::None => None,
                syn::PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
                    syn::GenericArgument::Const(x) => Some(x.clone()),
                    syn::GenericArgument::Type(syn::Type::Path(path)) => {
                        Some(syn::Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() }))
                    }
                    _ => None,
                }),
                syn::PathArguments::Parenthesized(_) => return error(ty, "write `&Acc` or `&Acc<2>`"),
            };
            return Ok(Class::Acc(dimensions));
        }
        return check_type(ty).map(|()| Class::Value);
    }
    if let syn::Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
    {
        let arguments = match &last.arguments {
            syn::PathArguments::AngleBracketed(arguments) => arguments.args.len(),
            _ => 0,
        };
        match last.ident.to_string().as_str() {
            "Read" if arguments == 1 => return Ok(Class::View(View::ReadLine)),
            "PerItem" => return Ok(Class::View(View::PerItem)),
            "Read" | "Shared" | "Atomic" => return Ok(Class::View(View::Other)),
            "Acc" => return error(ty, "write `&Acc`"),
            "Buffer" => {
                return error(ty, "a kernel's parameter says how its threads share the buffer: `Read<T>`, `PerItem<T>`, \
                                  `Shared<T>` or `Atomic<T>`");
            }
            _ => {}
        }
    }
    check_type(ty)?;
    Ok(Class::Value)
}
