//! Expressions in kernels: each kind of Rust's, or where it is refused.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Result, UnOp};

use super::jumps::AroundKind;
use super::literals::number;
use super::types::check_cast;
use super::{Parser, choice, error, indices, places, without_parentheses, words};
use crate::ast::{Change, Expr, ExprKind, Local, Pattern, View};
use crate::rules::{contracted, contracted_assignment};
use crate::signature::rank;

impl Parser {
    pub(super) fn expr(&mut self, x: &syn::Expr) -> Result<Expr> {
        let span = x.span();
        let shared_allowed = std::mem::replace(&mut self.shared_allowed, false);
        let kind = match x {
            syn::Expr::Lit(literal) => ExprKind::Literal(number(&literal.lit)?),
            syn::Expr::Paren(inner) => return self.expr(&inner.expr),
            syn::Expr::Group(inner) => return self.expr(&inner.expr),
            syn::Expr::Path(path) => self.path_as_value(path)?,
            syn::Expr::Unary(unary) => self.unary(unary)?,
            syn::Expr::Binary(binary) => self.binary(binary)?,
            syn::Expr::Assign(assign) => self.assignment(assign)?,
            syn::Expr::Index(index) => self.index(index)?,
            syn::Expr::MethodCall(call) => self.method(call, shared_allowed)?,
            syn::Expr::Call(call) => self.call(call)?,
            syn::Expr::Cast(cast) => {
                check_cast(&cast.ty)?;
                self.cast(&cast.expr, (*cast.ty).clone())?
            }
            syn::Expr::If(branch) => self.branch(branch)?,
            syn::Expr::While(repeat) => self.while_loop(repeat)?,
            syn::Expr::Loop(repeat) => self.within(&repeat.label, AroundKind::Loop, |parser, target| {
                Ok(ExprKind::Loop { target, body: parser.block(&repeat.body)? })
            })?,
            syn::Expr::ForLoop(repeat) => self.for_loop(repeat)?,
            syn::Expr::Block(block) if block.label.is_some() => {
                self.within(&block.label, AroundKind::Block, |parser, target| {
                    Ok(ExprKind::Labelled { target, body: parser.block(&block.block)? })
                })?
            }
            syn::Expr::Block(block) => ExprKind::Block(self.block(&block.block)?),
            syn::Expr::Match(choice) => self.choice(choice)?,
            syn::Expr::Break(leave) => {
                let target = self.target(x, &leave.label, true)?;
                self.check_break(leave, target)?;
                let value = leave.expr.as_ref().map(|value| self.boxed(value)).transpose()?;
                ExprKind::Break { target, value }
            }
            syn::Expr::Continue(next) => ExprKind::Continue(self.target(x, &next.label, false)?),
            syn::Expr::Return(leave) => {
                if let Some(value) = leave.expr.as_ref().filter(|_| self.is_kernel && self.outside.is_none()) {
                    return error(value, "a kernel returns nothing: write results to a view, and leave by `return;`");
                }
                self.returns = true;
                let mut value = leave.expr.as_ref().map(|value| self.boxed(value)).transpose()?;
                value.iter_mut().for_each(|value| self.adapt(value));
                ExprKind::Return(value)
            }
            syn::Expr::Tuple(tuple) => ExprKind::Tuple(self.exprs(&tuple.elems)?),
            syn::Expr::Field(field) => self.field(field)?,
            syn::Expr::Struct(literal) => self.structure(literal)?,
            syn::Expr::Array(array) => {
                let mut all = self.exprs(&array.elems)?;
                self.adapt_all(&mut all);
                ExprKind::Array(all)
            }
            syn::Expr::Repeat(repeat) => ExprKind::Repeat(self.boxed(&repeat.expr)?, (*repeat.len).clone()),
            syn::Expr::Range(range) => self.range(range)?,
            syn::Expr::Reference(reference) => return error(reference, places::REFERENCES),
            syn::Expr::Macro(call) => return self.macro_call(&call.mac),
            other => return refuse(other),
        };
        let mut parsed = Expr { kind, span };
        if matches!(x, syn::Expr::If(_) | syn::Expr::Match(_)) {
            self.adapt_choice(&mut parsed);
        }
        Ok(parsed)
    }

    /// Parses a path whose value is used: a variable that holds one, or a constant that is no `usize`.
    fn path_as_value(&mut self, path: &syn::ExprPath) -> Result<ExprKind> {
        match self.path(path)? {
            ExprKind::Local(local) if local.is_reference => {
                error(path, &format!("`{0}` is a reference here; write `*{0}`", local.name))
            }
            ExprKind::Local(local) if local.is_item => {
                error(path, &format!("`{0}` is a reference to the element here; write `*{0}`", local.name))
            }
            ExprKind::Local(local) if local.is_function => {
                let message = format!(
                    "`{0}` is a function; call it, `{0}(x)`, or pass it to a device function that takes one",
                    local.name
                );
                error(path, &message)
            }
            ExprKind::Constant(name) if name.path.get_ident().is_some_and(|name| self.lengths.contains(name)) => {
                let name = name.to_token_stream();
                error(path, &format!("`{name}` is a `usize`, and kernels count with `u32`: write `{name} as u32`"))
            }
            kind => Ok(kind),
        }
    }

    pub(super) fn path(&mut self, path: &syn::ExprPath) -> Result<ExprKind> {
        if path.qself.is_some() {
            return Ok(ExprKind::Constant(path.clone()));
        }
        if let Some(name) = path.path.get_ident()
            && let Some(local) = self.find(name)
        {
            let is_view = self.views.contains_key(&local.number);
            let name = if name == "self" { local.name.clone() } else { name.clone() };
            return Ok(ExprKind::Local(Local { name, is_view, ..local }));
        }
        if let Some(message) = path.path.get_ident().and_then(|name| words::variable(&name.to_string())) {
            return error(path, &message);
        }
        let mut last = path.path.segments.iter().rev().map(|segment| &segment.ident);
        if let (Some(scope), Some(owner)) = (last.next(), last.next())
            && owner == "Scope"
            && (scope == "Warp" || scope == "Subgroup")
        {
            return error(
                path,
                "there are no fences and atomics of a warp's scope: PTX has none narrower than the block's; write `Scope::Block`, \
                 or `acc.warp().sync()`, which waits for the lanes of the warp and orders their memory",
            );
        }
        self.check_captured(&path.path, true)?;
        Ok(ExprKind::Constant(path.clone()))
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Result<ExprKind> {
        let op = plain(&binary.op);
        self.check_arrays(op.as_ref().unwrap_or(&binary.op), &binary.left, &binary.right)?;
        if let Some(op) = op {
            let operator = self.operator(op, &binary.left, &binary.right);
            let mut value = self.boxed(&binary.right)?;
            self.adapt(&mut value);
            let place = Box::new(self.place(&binary.left)?);
            return Ok(match self.rules.contract {
                true => contracted_assignment(operator, place, value),
                false => ExprKind::AssignWith(Change::Op(operator), place, value),
            });
        }
        let operator = self.operator(binary.op, &binary.left, &binary.right);
        let (mut left, mut right) = (self.boxed(&binary.left)?, self.boxed(&binary.right)?);
        self.adapt_operands(&binary.op, &mut left, &mut right);
        Ok(match self.rules.contract {
            true => contracted(operator, left, right),
            false => ExprKind::Binary(operator, left, right),
        })
    }

    fn unary(&mut self, unary: &syn::ExprUnary) -> Result<ExprKind> {
        Ok(match unary.op {
            UnOp::Neg(_) => match without_parentheses(&unary.expr) {
                syn::Expr::Lit(literal) => ExprKind::NegativeLiteral(number(&literal.lit)?),
                operand => {
                    let operands = self.operands(&[operand]);
                    ExprKind::Negate(self.boxed(operand)?, operands)
                }
            },
            UnOp::Not(_) => ExprKind::Not(self.boxed(&unary.expr)?),
            _ => match self.base(&unary.expr)? {
                Expr { kind: ExprKind::Local(local), .. } if local.is_reference || local.is_self() => {
                    ExprKind::Local(local)
                }
                item => ExprKind::Deref(Box::new(item)),
            },
        })
    }

    /// Parses an access by index, `x[i]`, to what plain accesses may touch.
    fn index(&mut self, index: &syn::ExprIndex) -> Result<ExprKind> {
        if let syn::Expr::Range(range) = &*index.index {
            return error(range, "there are no slices in kernels; pass a view of the part you want, or index");
        }
        if let Some(message) = self.one_by_one(index) {
            return error(index, &message);
        }
        let base = Box::new(self.base(&index.expr)?);
        match self.view(&base) {
            Some(View::PerItem) => {
                return error(
                    index,
                    "a `PerItem` view has no elements by index, since each belongs to one thread; write \
                     `for (i, item) in acc.items(&mut out) { *item = … }`",
                );
            }
            Some(View::Atomic) => {
                return error(
                    index,
                    "`Atomic` memory is touched by atomic operations alone: `x.load(i)`, `x.store(i, value)`, \
                     `x.fetch_add(i, value)`; for plain accesses take `Shared`",
                );
            }
            Some(View::Read | View::ReadLine | View::Shared) => {
                if let Some(message) = self.not_an_index(index) {
                    return error(index, &message);
                }
            }
            None => {}
        }
        Ok(ExprKind::Index(base, self.boxed(&index.index)?))
    }

    /// The message about a view of numbers in several dimensions whose indices stand one behind the other, `x[1][2]`.
    fn one_by_one(&self, index: &syn::ExprIndex) -> Option<String> {
        let syn::Expr::Index(inner) = without_parentheses(&index.expr) else { return None };
        let view = self.type_of(&inner.expr)?;
        rank(&view)?;
        let element = Parser::element_of(&view)?;
        let is_of_numbers = matches!(&element, syn::Type::Path(ty) if ty.path.get_ident().is_some_and(|ty| self.is_type_of_numbers(ty)));
        let (of, first, second) =
            (inner.expr.to_token_stream(), inner.index.to_token_stream(), index.index.to_token_stream());
        is_of_numbers.then(|| format!("an index in several dimensions is an array: write `{of}[[{first}, {second}]]`"))
    }

    /// The message about an index of a view that is a tuple.
    fn not_an_index(&self, index: &syn::ExprIndex) -> Option<String> {
        let syn::Expr::Tuple(parts) = without_parentheses(&index.index) else { return None };
        let (of, parts) = (index.expr.to_token_stream(), parts.elems.to_token_stream());
        Some(format!("an index in several dimensions is an array: write `{of}[[{parts}]]`"))
    }

    fn while_loop(&mut self, repeat: &syn::ExprWhile) -> Result<ExprKind> {
        self.within(&repeat.label, AroundKind::While, |parser, target| {
            if let syn::Expr::Let(binding) = &*repeat.cond {
                return parser.while_let(binding, repeat, target);
            }
            if choice::is_chain(&repeat.cond) {
                return parser.while_chain(repeat, target);
            }
            let condition = parser.boxed(&repeat.cond)?;
            Ok(ExprKind::While { target, condition, body: parser.block(&repeat.body)? })
        })
    }

    fn for_loop(&mut self, repeat: &syn::ExprForLoop) -> Result<ExprKind> {
        self.inclusive_allowed = matches!(without_parentheses(&repeat.expr), syn::Expr::Range(_));
        let source = self.source(&repeat.expr)?;
        indices::check_for(&repeat.pat, &source)?;
        self.scoped(|parser| {
            parser.in_for = true;
            let pattern = parser.pattern(&repeat.pat, false);
            parser.in_for = false;
            let pattern = pattern?;
            parser.mark_items(&source, &pattern);
            if let (Pattern::Local(local), Some(ty)) = (&pattern, parser.type_of(&repeat.expr))
                && let Some(element) = Parser::element_of(&ty)
            {
                parser.has_type(local, &element);
            }
            parser.mark_counted(&repeat.expr, &source, &pattern);
            parser.within(&repeat.label, AroundKind::For, |parser, target| {
                Ok(ExprKind::For { target, pattern, source, body: parser.block(&repeat.body)? })
            })
        })
    }

    /// Parses a range with both ends; an inclusive one only as the whole source of a `for`.
    fn range(&mut self, range: &syn::ExprRange) -> Result<ExprKind> {
        let (Some(begin), Some(end)) = (&range.start, &range.end) else {
            return error(range, "a range in a kernel has a begin and an end: `0..n`");
        };
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        if inclusive && !std::mem::replace(&mut self.inclusive_allowed, false) {
            let end = match without_parentheses(end) {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(end), .. }) if end.suffix().is_empty() => {
                    (end.base10_parse::<u64>()?.saturating_add(1)).to_string()
                }
                end => format!("{} + 1", end.to_token_stream()),
            };
            let begin = begin.to_token_stream();
            let message = format!("an inclusive range stands alone, `for i in 0..=n`; here write `{begin}..{end}`");
            return error(range, &message);
        }
        self.inclusive_allowed = false;
        Ok(ExprKind::Range { begin: self.boxed(begin)?, end: self.boxed(end)?, inclusive })
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

fn refuse<T>(x: &syn::Expr) -> Result<T> {
    match x {
        syn::Expr::Closure(_) => error(
            x,
            "a closure in a kernel stands where it is passed to a device function, `apply(|x| x * 2.0, y)`; else write a \
                 function and mark it `#[device_fn]`",
        ),
        syn::Expr::Unsafe(unsafe_block) => {
            error(unsafe_block.unsafe_token, "there is nothing unsafe in kernels: every access is checked")
        }
        syn::Expr::Try(_) => error(x, "there is no `?` in kernels; write `assert!(…)`, which the launch reports"),
        syn::Expr::Async(_) | syn::Expr::Await(_) => error(x, "a kernel is not asynchronous; its launch is"),
        syn::Expr::Let(_) => error(
            x,
            "`let` stands in the condition of an `if` or a `while`, between `&&`; else compare, `x == 3`, or write `matches!(x, 3)`",
        ),
        _ => error(
            x,
            "this is outside the subset of Rust that kernels are written in (see the documentation of `kernel`)",
        ),
    }
}
