//! The expressions that replace an operation, and how they are put into a kernel.

use wattle_math as math;
use wattle_operations::operations;

use super::setup::Setups;
use super::term::{Construction, Term};
use super::{Arena, Exact, Format, Replaced, div};
use crate::builder::Builder;
use crate::rename::{rename, renamed};
use crate::{BinaryOp, Expr, ExprId, FloatFormat, Kernel, ParamId, Scalar, Site, SlotId, Type, UnaryOp};

/// The replacement of an operation: expressions over its operands, which are parameters there. Statements may set slots
/// first: these read none, and what they use comes before the first expression that reads one.
pub(super) struct Template {
    kernel: Kernel,
    result: ExprId,
}

/// The operands of an expansion, by their types.
struct Operands<'b, T> {
    floats: [Term<'b, T>; 3],
    integer: Term<'b, i32>,
}

/// An operand of a row: a float like the first one, or an `i32`.
macro_rules! operand {
    ($operands:ident $number:literal) => {
        $operands.floats[$number]
    };
    ($operands:ident $number:literal i32) => {
        $operands.integer
    };
    ($operands:ident $number:literal $of:ident) => {
        $operands.floats[$number]
    };
}

/// The function of a row, over terms; operations of a target's own have none.
macro_rules! expansion {
    (by $operands:ident ($x:ident $(, $y:ident $($of:ident)?)?) {float: $meaning:expr}) => {{
        let $x = $operands.floats[0];
        $(let $y = operand!($operands 1 $($of)?);)?
        Some($meaning)
    }};
    (fast $($rest:tt)*) => {
        expansion!(by $($rest)*)
    };
    ($how:ident $($rest:tt)*) => {
        None
    };
}

macro_rules! expansions {
    (unary {$($unary:tt)+} binary {$($binary:tt)+} ternary {$($ternary:tt)+}) => {
        expansions!(@rows unary UnaryOp {$($unary)+});
        expansions!(@rows binary BinaryOp {$($binary)+});
    };
    (@rows $name:ident $ops:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)?) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+}) => {
        fn $name<'b, T: Format>(op: $ops, operands: &Operands<'b, T>) -> Option<Term<'b, T>> {
            match op {
                $($ops::$op => expansion!($how operands ($x $(, $y $($of)?)?) {$($meaning)+}),)+
            }
        }
    };
}
operations!(expansions);

impl Template {
    pub(super) fn new(replaced: Replaced, ty: Type, exact: Exact) -> Template {
        match ty.float_format() {
            Some(FloatFormat::F32) => Template::of::<f32>(replaced, exact),
            Some(FloatFormat::F64) => Template::of::<f64>(replaced, exact),
            // These are computed with as `F32` by now.
            Some(FloatFormat::Half(_)) => unreachable!("floats of 16 bits are replaced before"),
            None => unreachable!("operations on floats alone are replaced"),
        }
    }

    /// The replacement that expressions over parameters give.
    pub(super) fn build(result: impl FnOnce(&Construction) -> ExprId) -> Template {
        let target = Construction { builder: Builder::new("expansion", Site::caller(), 1), exact: Exact::ALL };
        let result = result(&target);
        let mut kernel = target.builder.unverified();
        kernel.exprs.truncate(result.index() + 1);
        Template { kernel, result }
    }

    fn of<T: Format>(replaced: Replaced, exact: Exact) -> Template {
        let target = Construction { builder: Builder::new("expansion", Site::caller(), 1), exact };
        fn param<'b, T: Scalar>(target: &'b Construction, number: u32) -> Term<'b, T> {
            let builder = &target.builder;
            Term { val: builder.val(Expr::Param(ParamId(number))), target }
        }
        let result = {
            // The types of the parameters are those that the expressions give them.
            let floats = [0, 1, 2].map(|number| param::<T>(&target, number));
            let operands = Operands { floats, integer: param(&target, 1) };
            let [x, y, z] = operands.floats;
            let result = match replaced {
                Replaced::Unary(op) => unary(op, &operands),
                Replaced::Binary(op) => binary(op, &operands),
                Replaced::Fma => Some(math::fma(x, y, z)),
                Replaced::Div => Some(div::quotient(x, y)),
                Replaced::Sqrt => Some(div::root(x)),
            };
            result.map_or(x, |result| result).val.id
        };
        let mut kernel = target.builder.unverified();
        kernel.exprs.truncate(result.index() + 1);
        Template { kernel, result }
    }

    /// Appends the expressions for these operands, and what they need done first; gives that of the result.
    pub(super) fn apply(&self, operands: &[ExprId], arena: &mut Arena, setups: &mut Setups) -> ExprId {
        let mut ids = Vec::with_capacity(self.kernel.exprs.len());
        let mut first_slot = None;
        for &(mut expr) in &self.kernel.exprs {
            match &mut expr {
                Expr::Param(ParamId(number)) => {
                    // The parameters beyond the function's operands are not used.
                    let operand = operands.get(*number as usize).or(operands.first());
                    ids.push(operand.copied().unwrap_or(ExprId(0)));
                    continue;
                }
                Expr::Slot(SlotId(number)) => {
                    *number += *first_slot.get_or_insert_with(|| {
                        let mut body = self.kernel.body.clone();
                        rename(&mut body, &ids);
                        setups.add(body, &self.kernel.slots)
                    });
                }
                other => other.operands_mut().for_each(|id| *id = renamed(&ids, *id)),
            }
            ids.push(arena.intern(expr));
        }
        renamed(&ids, self.result)
    }
}
