//! The types of expressions and places, written once: the verifier refuses what has none, and code generators ask which
//! one it has.

use crate::{Access, Expr, ExprId, Kernel, ParamKind, Place, SlotId, Type};

/// A result, or what is wrong with the kernel.
pub(crate) type Checked<T = ()> = Result<T, String>;

pub(crate) fn ensure(condition: bool, what: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(what()) }
}

impl Kernel {
    /// The type of an expression, where `types` are those of the kernel's expressions that it may refer to.
    ///
    /// # Errors
    /// The expression is ill-typed; the text says why.
    pub fn type_of(&self, expr: &Expr, types: &[Type]) -> Result<Type, String> {
        Typing { kernel: self, types }.expr(expr)
    }
}

/// A kernel with the types of its first expressions.
pub(crate) struct Typing<'k> {
    pub kernel: &'k Kernel,
    pub types: &'k [Type],
}

impl Typing<'_> {
    pub(crate) fn expr(&self, expr: &Expr) -> Checked<Type> {
        Ok(match *expr {
            Expr::Const(constant) => {
                let bits = constant.ty.size() as u32 * 8;
                ensure(bits == 64 || constant.raw >> bits == 0, || format!("{constant:?} has bits beyond its type"))?;
                constant.ty
            }
            Expr::Slot(slot) => self.slot(slot)?,
            Expr::Param(id) => match self.kernel.params.get(id.index()).map(|param| param.kind) {
                Some(ParamKind::Scalar(ty)) => ty,
                Some(_) => return Err(format!("parameter {id:?} is a view, used as a value")),
                None => return Err(format!("there is no parameter {id:?}")),
            },
            Expr::Extent(place, dimension) => {
                let rank = self.place(place)?.rank;
                ensure((dimension as usize) < rank, || {
                    format!("`{}` has no dimension {dimension}", self.kernel.place_name(place))
                })?;
                self.kernel.extent_type(place)
            }
            Expr::Builtin(_, dimension) => {
                let rank = self.kernel.rank;
                ensure((dimension as usize) < rank, || format!("the launch has {rank} dimensions, no {dimension}"))?;
                Type::U32
            }
            Expr::Unary(op, x) => {
                let x = self.ty(x)?;
                op.result(x).ok_or_else(|| format!("`{}` does not apply to {x}", op.name()))?
            }
            Expr::Binary(op, x, y) => {
                let (x, y) = (self.ty(x)?, self.ty(y)?);
                op.result(x, y).ok_or_else(|| format!("`{}` does not apply to {x} and {y}", op.name()))?
            }
            Expr::Ternary(op, x, y, z) => {
                let (x, y, z) = (self.ty(x)?, self.ty(y)?, self.ty(z)?);
                op.result(x, y, z).ok_or_else(|| format!("`{}` does not apply to {x}, {y} and {z}", op.name()))?
            }
            Expr::Select(condition, x, y) => {
                self.expect(condition, Type::Bool)?;
                let ty = self.ty(x)?;
                self.expect(y, ty)?;
                ty
            }
            Expr::Cast(to, x) => {
                let from = self.ty(x)?;
                ensure(to != Type::Bool || from == Type::Bool, || format!("cast of {from} to bool"))?;
                to
            }
            Expr::Bits(to, x) => {
                let from = self.ty(x)?;
                ensure(to.size() == from.size() && to != Type::Bool && from != Type::Bool, || {
                    format!("the bits of {from} as {to}")
                })?;
                to
            }
        })
    }

    pub(crate) fn ty(&self, id: ExprId) -> Checked<Type> {
        self.types.get(id.index()).copied().ok_or_else(|| format!("expression {id:?} is used before it is defined"))
    }

    pub(crate) fn expect(&self, id: ExprId, expected: Type) -> Checked {
        let found = self.ty(id)?;
        ensure(found == expected, || format!("expression {id:?} has type {found}, {expected} was expected"))
    }

    /// A number of an index: a `u32` or `u64`.
    pub(crate) fn expect_index(&self, id: ExprId) -> Checked {
        let found = self.ty(id)?;
        ensure(matches!(found, Type::U32 | Type::U64), || {
            format!("index {id:?} has type {found}, u32 or u64 was expected")
        })
    }

    pub(crate) fn slot(&self, slot: SlotId) -> Checked<Type> {
        self.kernel.slots.get(slot.index()).map(|slot| slot.ty).ok_or_else(|| format!("there is no slot {slot:?}"))
    }

    pub(crate) fn place(&self, place: Place) -> Checked<PlaceType> {
        let missing = || format!("there is no {place:?}");
        match place {
            Place::Param(id) => match self.kernel.params.get(id.index()).map(|param| param.kind) {
                Some(ParamKind::View { access, element, rank }) => {
                    Ok(PlaceType { element, rank, atomic: access == Access::Atomic, writable: access != Access::Read })
                }
                Some(ParamKind::Scalar(_)) => Err(format!("parameter {id:?} is a value, used as a view")),
                None => Err(missing()),
            },
            Place::Shared(id) => {
                let array = self.kernel.shared.get(id.index()).ok_or_else(missing)?;
                Ok(PlaceType { element: array.element, rank: array.len.rank(), atomic: array.atomic, writable: true })
            }
            Place::Local(id) => {
                let array = self.kernel.locals.get(id.index()).ok_or_else(missing)?;
                Ok(PlaceType { element: array.element, rank: 1, atomic: false, writable: array.constants.is_none() })
            }
        }
    }
}

/// What the verifier needs to know of a place.
pub(crate) struct PlaceType {
    pub element: Type,
    pub rank: usize,
    pub atomic: bool,
    pub writable: bool,
}
