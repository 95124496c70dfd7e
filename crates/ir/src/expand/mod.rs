//! Replaces mathematical functions that a target lacks, or has only inexactly, by operators that every target has.
//!
//! Targets disagree on how good their `exp` or `sin` is, and some have none for `f64`; not all round an `fma` once.
//! What the functions become here consists of `+ - * /` and `√` of floats as IEEE 754 defines them, `floor`,
//! comparisons, selections, conversions, and operations on integers of the float's size and on `i32`. So the results
//! are within the bounds that [`scalar`](crate::FloatOps) states, and the same on each target that evaluates these
//! exactly and nothing else.
//!
//! The coefficients are those of Taylor series on a reduced range, computed here; each file says why its error is
//! what it is. Subnormal results are not promised, but subnormals that are flushed to zero do no harm elsewhere.
//!
//! `/` and `√` can be lacking too, where the target's are only near to the true ones. What then stands for them is
//! exact, and the other functions use it and give the same results as elsewhere; only `pow`, which corrects its
//! quotients anyway, keeps the target's, and its last bit may depend on them.

mod constant;
mod div;
mod double_word;
mod exp;
mod fma;
mod ln;
mod payne_hanek;
mod pow;
mod setup;
mod simple;
mod template;
mod term;
mod trig;

use std::borrow::Cow;
use std::collections::HashMap;

pub(crate) use constant::FOUR_BY_PI_WORDS;

use crate::visit::walk_mut;
use crate::{BinaryOp, Expr, ExprId, Kernel, Stmt, TernaryOp, Type, UnaryOp};
use setup::Setups;
use template::Template;

/// A function of floats that [`expand`] can replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// [`UnaryOp::Rsqrt`].
    Rsqrt,
    /// [`UnaryOp::Exp`].
    Exp,
    /// [`UnaryOp::Ln`].
    Ln,
    /// [`UnaryOp::Sin`].
    Sin,
    /// [`UnaryOp::Cos`].
    Cos,
    /// [`UnaryOp::Tanh`].
    Tanh,
    /// [`UnaryOp::Round`].
    Round,
    /// [`BinaryOp::Pow`].
    Pow,
    /// [`TernaryOp::Fma`].
    Fma,
    /// [`BinaryOp::Div`].
    Div,
    /// [`UnaryOp::Sqrt`].
    Sqrt,
}

impl Function {
    /// All functions.
    pub const ALL: [Function; 11] = [
        Function::Rsqrt,
        Function::Exp,
        Function::Ln,
        Function::Sin,
        Function::Cos,
        Function::Tanh,
        Function::Round,
        Function::Pow,
        Function::Fma,
        Function::Div,
        Function::Sqrt,
    ];

    /// The function that an expression applies, if it is one of these, and its first operand, whose type is the
    /// function's.
    pub fn of(expr: &Expr) -> Option<(Function, ExprId)> {
        Some(match *expr {
            Expr::Unary(UnaryOp::Rsqrt, x) => (Function::Rsqrt, x),
            Expr::Unary(UnaryOp::Exp, x) => (Function::Exp, x),
            Expr::Unary(UnaryOp::Ln, x) => (Function::Ln, x),
            Expr::Unary(UnaryOp::Sin, x) => (Function::Sin, x),
            Expr::Unary(UnaryOp::Cos, x) => (Function::Cos, x),
            Expr::Unary(UnaryOp::Tanh, x) => (Function::Tanh, x),
            Expr::Unary(UnaryOp::Round, x) => (Function::Round, x),
            Expr::Binary(BinaryOp::Pow, x, _) => (Function::Pow, x),
            Expr::Ternary(TernaryOp::Fma, x, ..) => (Function::Fma, x),
            Expr::Binary(BinaryOp::Div, x, _) => (Function::Div, x),
            Expr::Unary(UnaryOp::Sqrt, x) => (Function::Sqrt, x),
            _ => return None,
        })
    }
}

/// The kernel, with each function that `lacks` names, for `F32` or `F64`, replaced by simpler operators.
///
/// The kernel must be one that [`verify`](crate::verify) accepts; the new one is so too. What is rarely needed, such as
/// the reduction of large angles, is behind a branch before the statement that uses the function; its results are in
/// slots behind the kernel's own. Unused expressions are dropped, and a kernel that lacks nothing is returned as it is.
/// Replacements are large and share their parts, so a reader must take each expression once: as trees, some would have
/// no end. Those of `F32` use no 64-bit type. Where `lacks` does not name [`Function::Fma`], the others may use it.
///
/// A target that lacks [`Function::Div`] or [`Function::Sqrt`] has a `/` or a `√` all the same, within 4 ulp of
/// operands near 1. What stands for them corrects that, so these operators remain in the new kernel, which must not be
/// expanded again.
pub fn expand<'k>(kernel: &'k Kernel, lacks: &dyn Fn(Function, Type) -> bool) -> Cow<'k, Kernel> {
    let types = kernel.expr_types();
    let lacking = |expr: &Expr| {
        let (function, operand) = Function::of(expr)?;
        let ty = types.get(operand.index()).copied()?;
        (ty.is_float() && lacks(function, ty)).then_some((function, ty))
    };
    if kernel.exprs.iter().all(|expr| lacking(expr).is_none()) {
        return Cow::Borrowed(kernel);
    }
    let exact =
        |ty| Exact { fma: !lacks(Function::Fma, ty), div: !lacks(Function::Div, ty), sqrt: !lacks(Function::Sqrt, ty) };
    let (mut arena, mut setups) = (Arena::default(), Setups::new(&kernel.slots));
    let mut templates = HashMap::new();
    let mut ids = Vec::with_capacity(kernel.exprs.len());
    for expr in &kernel.exprs {
        let mut expr_here = *expr;
        expr_here.operands_mut().for_each(|id| *id = renamed(&ids, *id));
        let operands: Vec<ExprId> = expr_here.operands().copied().collect();
        ids.push(match lacking(expr) {
            Some((function, ty)) => templates
                .entry((function, ty))
                .or_insert_with(|| Template::new(function, ty, exact(ty)))
                .apply(&operands, &mut arena, &mut setups),
            None => arena.intern(expr_here),
        });
    }
    let mut expanded = Kernel { exprs: arena.exprs, ..kernel.clone() };
    rename(&mut expanded.body, &ids);
    setups.insert(&mut expanded);
    drop_unused(&mut expanded);
    Cow::Owned(expanded)
}

/// The new name of an expression; one that does not exist, which no verified kernel uses, keeps its own.
fn renamed(ids: &[ExprId], id: ExprId) -> ExprId {
    ids.get(id.index()).copied().unwrap_or(id)
}

/// Gives the expressions that statements use their new names.
fn rename(block: &mut [Stmt], ids: &[ExprId]) {
    walk_mut(block, &mut |stmt| stmt.operands_mut().for_each(|id| *id = renamed(ids, *id)));
}

/// Expressions, none of them twice.
#[derive(Default)]
struct Arena {
    exprs: Vec<Expr>,
    known: HashMap<Expr, ExprId>,
}

impl Arena {
    fn intern(&mut self, expr: Expr) -> ExprId {
        *self.known.entry(expr).or_insert_with(|| {
            self.exprs.push(expr);
            ExprId(self.exprs.len() as u32 - 1)
        })
    }
}

/// Which operators of a type the target has as the IR defines them.
#[derive(Clone, Copy)]
struct Exact {
    fma: bool,
    div: bool,
    sqrt: bool,
}

/// Drops the expressions that no statement uses, directly or by others.
fn drop_unused(kernel: &mut Kernel) {
    let mut used = vec![false; kernel.exprs.len()];
    let mark = |used: &mut [bool], id: ExprId| {
        if let Some(used) = used.get_mut(id.index()) {
            *used = true;
        }
    };
    kernel.walk(&mut |stmt| stmt.operands().for_each(|id| mark(&mut used, *id)));
    for (number, expr) in kernel.exprs.iter().enumerate().rev() {
        if used[number] {
            expr.operands().for_each(|id| mark(&mut used, *id));
        }
    }
    let (mut kept, mut ids) = (Vec::new(), Vec::with_capacity(used.len()));
    for (&(mut expr), used) in kernel.exprs.iter().zip(used) {
        ids.push(ExprId(kept.len() as u32));
        if used {
            expr.operands_mut().for_each(|id| *id = renamed(&ids, *id));
            kept.push(expr);
        }
    }
    rename(&mut kernel.body, &ids);
    kernel.exprs = kept;
}
