//! Replaces mathematical functions by operators that every target has.
//!
//! Targets disagree on how good their `exp` or `sin` is, and some have none for `f64`; not all round an `fma` once. So
//! every function that the table of operations marks so becomes what `wattle-math` says of it, in IEEE 754's `+ - * /`
//! and `√`, comparisons, selections, and operations on the bits. The host and the interpreters compute the same there,
//! and the results have the same bits.
//!
//! `fma`, `/` and `√` can be lacking too, where the target's are only near to the true ones. What then stands for them
//! is exact, and the functions use it. Subnormal results are not promised, but subnormals that are flushed to zero do
//! no harm elsewhere.

mod div;
mod halves;
mod setup;
mod template;
mod term;

pub use halves::Halves;
pub(crate) use halves::lower_halves;

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::rename::{drop_unused, rename, renamed};
use crate::{BinaryOp, Expr, ExprId, Float, Kernel, TernaryOp, Type, UnaryOp, Word};
use setup::Setups;
use template::Template;

/// The operations on a float type that a target rounds as the IR defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// Whether `fma` is rounded once.
    pub fma: bool,
    /// Whether `/` is rounded correctly; else it is within 4 ulp for operands near 1.
    pub div: bool,
    /// Whether `√` is rounded correctly; else it is within 4 ulp for operands near 1.
    pub sqrt: bool,
    /// The short forms of functions ([`UnaryOp::is_fast`]) for which the target has an instruction within their bounds.
    pub fast: &'static [UnaryOp],
}

impl Exact {
    /// A target that rounds all operations as the IR does, and has no short forms of functions.
    pub const ALL: Exact = Exact { fma: true, div: true, sqrt: true, fast: &[] };
}

/// A float format, as numbers.
trait Format: Float<Bits: Word> {
    /// Bits of the significand, with the hidden one.
    const PRECISION: u32;
    /// The exponent of the greatest power of two; what is added to exponents in the bits.
    const BIAS: u32;
}

impl Format for f32 {
    const PRECISION: u32 = <f32 as wattle_math::Real>::PRECISION;
    const BIAS: u32 = <f32 as wattle_math::Real>::BIAS;
}

impl Format for f64 {
    const PRECISION: u32 = <f64 as wattle_math::Real>::PRECISION;
    const BIAS: u32 = <f64 as wattle_math::Real>::BIAS;
}

/// An operation on floats that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Replaced {
    /// A function of one operand.
    Unary(UnaryOp),
    /// A function of two operands.
    Binary(BinaryOp),
    /// An inexact [`TernaryOp::Fma`].
    Fma,
    /// An inexact [`BinaryOp::Div`].
    Div,
    /// An inexact [`UnaryOp::Sqrt`].
    Sqrt,
}

impl Replaced {
    /// What an expression applies to a float, where that is replaced.
    fn of(expr: &Expr, exact: Exact) -> Option<Replaced> {
        match *expr {
            Expr::Unary(op, _) if op.is_function() || op.is_fast() && !exact.fast.contains(&op) => {
                Some(Replaced::Unary(op))
            }
            Expr::Binary(op, ..) if op.is_function() || op.is_fast() => Some(Replaced::Binary(op)),
            Expr::Unary(UnaryOp::Sqrt, _) if !exact.sqrt => Some(Replaced::Sqrt),
            Expr::Binary(BinaryOp::Div, ..) if !exact.div => Some(Replaced::Div),
            Expr::Ternary(TernaryOp::Fma, ..) if !exact.fma => Some(Replaced::Fma),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Ternary(..) => None,
            Expr::Const(_) | Expr::Param(_) | Expr::Slot(_) | Expr::Extent(..) | Expr::Builtin(..) => None,
            Expr::Select(..) | Expr::Cast(..) | Expr::Bits(..) => None,
        }
    }
}

/// The kernel, with each function, and each operator that is not `exact` for its type, replaced by simpler operators.
///
/// The kernel must be one that [`verify`](crate::verify()) accepts; the new one is so too. What is rarely needed, such as
/// the reduction of large angles of `F64`, is behind a branch before the statement that uses the function; its results
/// are in slots behind the kernel's own. Unused expressions are dropped, and a kernel that uses nothing of these is
/// returned as it is. Replacements are large and share their parts, so a reader must take each expression once: as
/// trees, some would have no end. Those of `F32` use no 64-bit type.
///
/// What stands for an inexact `/` or `√` uses the target's own, so these operators remain in the new kernel, which must
/// not be expanded again.
pub fn expand<'k>(kernel: &'k Kernel, exact: &dyn Fn(Type) -> Exact) -> Cow<'k, Kernel> {
    let types = kernel.expr_types();
    let replaced = |expr: &Expr| {
        // The operand that decides about the type is the first one of all these.
        let ty = types.get(expr.operands().next()?.index()).copied().filter(|ty| ty.is_float())?;
        Some((Replaced::of(expr, exact(ty))?, ty))
    };
    if kernel.exprs.iter().all(|expr| replaced(expr).is_none()) {
        return Cow::Borrowed(kernel);
    }
    let (mut arena, mut setups) = (Arena::default(), Setups::new(&kernel.slots));
    let mut templates = FxHashMap::default();
    let mut ids = Vec::with_capacity(kernel.exprs.len());
    for expr in &kernel.exprs {
        let mut expr_here = *expr;
        expr_here.operands_mut().for_each(|id| *id = renamed(&ids, *id));
        let operands: Vec<ExprId> = expr_here.operands().copied().collect();
        ids.push(match replaced(expr) {
            Some((replaced, ty)) => templates
                .entry((replaced, ty))
                .or_insert_with(|| Template::new(replaced, ty, exact(ty)))
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

/// Expressions, none of them twice.
#[derive(Default)]
struct Arena {
    exprs: Vec<Expr>,
    known: FxHashMap<Expr, ExprId>,
}

impl Arena {
    fn intern(&mut self, expr: Expr) -> ExprId {
        *self.known.entry(expr).or_insert_with(|| {
            self.exprs.push(expr);
            ExprId(self.exprs.len() as u32 - 1)
        })
    }
}
