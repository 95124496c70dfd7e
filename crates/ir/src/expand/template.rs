//! The expressions that replace a function, and how they are put into a kernel.

use super::setup::Setups;
use super::term::{Real, Term};
use super::{Arena, Exact, Function, div, exp, fma, ln, pow, rename, renamed, simple, trig};
use crate::builder::Builder;
use crate::{Expr, ExprId, Kernel, ParamId, Site, SlotId, Type};

/// The replacement of a function: expressions over its operands, which are parameters there. Statements may set slots
/// first: these read none, and what they use comes before the first expression that reads one.
pub(super) struct Template {
    kernel: Kernel,
    result: ExprId,
}

impl Template {
    pub(super) fn new(function: Function, ty: Type, exact: Exact) -> Template {
        match ty {
            Type::F32 => Template::of::<f32>(function, exact),
            Type::F64 => Template::of::<f64>(function, exact),
            Type::Bool
            | Type::U8
            | Type::I8
            | Type::U16
            | Type::I16
            | Type::U32
            | Type::I32
            | Type::U64
            | Type::I64 => unreachable!("functions of floats alone are lacking"),
        }
    }

    fn of<T: Real>(function: Function, exact: Exact) -> Template {
        let builder = Builder::new("expansion", Site::caller(), 1);
        let [x, y, z] = ["x", "y", "z"].map(|name| Term(builder.scalar::<T>(name)));
        let result = match function {
            Function::Rsqrt => simple::rsqrt(x, exact),
            Function::Exp => exp::exp(x),
            Function::Ln => ln::ln(x, exact),
            Function::Sin => trig::sin(x, exact.fma),
            Function::Cos => trig::cos(x, exact.fma),
            Function::Tanh => exp::tanh(x, exact),
            Function::Round => simple::round(x),
            Function::Pow => pow::pow(x, y, exact.fma),
            Function::Fma => fma::fma(x, y, z),
            Function::Div => div::quotient(x, y, exact),
            Function::Sqrt => div::root(x, exact),
        };
        let result = result.0.id;
        let mut kernel = builder.unverified();
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
