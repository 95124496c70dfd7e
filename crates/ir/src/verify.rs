//! Refuses ill-typed kernels, with the place.

use std::collections::HashSet;

use thiserror::Error;
use wattle_memory::Scope;

use crate::{Access, Expr, ExprId, Kernel, Label, MAX_RANK, ParamKind, Place, SharedLen, Site, SlotId, Stmt, Type};

/// What is wrong with a kernel, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`, {at}: {what}")]
pub struct VerifyError {
    /// The kernel's name.
    pub kernel: String,
    /// The last source line that was passed on the way to it.
    pub at: Site,
    /// What is wrong.
    pub what: String,
}

/// Checks that every expression and statement of `kernel` is well typed and refers to what exists.
///
/// # Errors
/// The first defect, with the nearest source line.
pub fn verify(kernel: &Kernel) -> Result<(), VerifyError> {
    let mut verifier =
        Verifier { kernel, types: Vec::with_capacity(kernel.exprs.len()), defined: HashSet::new(), at: kernel.site };
    verifier.all().map_err(|what| VerifyError { kernel: kernel.name.clone(), at: verifier.at, what })
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    /// The types of the expressions that have been checked.
    types: Vec<Type>,
    /// The labels that have been defined.
    defined: HashSet<Label>,
    at: Site,
}

/// A label in scope, and whether it is a loop's.
type Labels = Vec<(Label, bool)>;
type Checked<T = ()> = Result<T, String>;

fn ensure(condition: bool, what: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(what()) }
}

impl Verifier<'_> {
    fn all(&mut self) -> Checked {
        let kernel = self.kernel;
        ensure((1..=MAX_RANK).contains(&kernel.rank), || format!("rank {} is not in 1..={MAX_RANK}", kernel.rank))?;
        for param in &kernel.params {
            if let ParamKind::View { access, element, rank } = param.kind {
                let name = param.name;
                ensure((1..=MAX_RANK).contains(&rank), || format!("parameter `{name}` has rank {rank}"))?;
                ensure(element != Type::Bool, || format!("parameter `{name}` is a view of bool"))?;
                ensure(access != Access::Atomic || element.is_atomic(), || {
                    format!("parameter `{name}`: there are no atomic operations on {element}")
                })?;
            }
        }
        let at_launch = kernel.shared.iter().filter(|array| array.len == SharedLen::AtLaunch).count();
        ensure(at_launch <= 1, || format!("{at_launch} shared arrays are sized at launch; at most one can be"))?;
        for array in &kernel.shared {
            let (name, element) = (array.name, array.element);
            ensure(element != Type::Bool, || format!("shared array `{name}` is of bool"))?;
            ensure(!array.atomic || element.is_atomic(), || {
                format!("shared array `{name}`: there are no atomic operations on {element}")
            })?;
        }
        for expr in &kernel.exprs {
            let ty = self.expr(expr)?;
            self.types.push(ty);
        }
        self.block(&kernel.body, &mut Vec::new())
    }

    fn expr(&self, expr: &Expr) -> Checked<Type> {
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
                Type::U32
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
            Expr::Fma(x, y, z) => {
                let ty = self.ty(x)?;
                ensure(ty.is_float(), || format!("fma of {ty}"))?;
                self.expect(y, ty)?;
                self.expect(z, ty)?;
                ty
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

    fn ty(&self, id: ExprId) -> Checked<Type> {
        self.types.get(id.index()).copied().ok_or_else(|| format!("expression {id:?} is used before it is defined"))
    }

    fn expect(&self, id: ExprId, expected: Type) -> Checked {
        let found = self.ty(id)?;
        ensure(found == expected, || format!("expression {id:?} has type {found}, {expected} was expected"))
    }

    fn slot(&self, slot: SlotId) -> Checked<Type> {
        self.kernel.slots.get(slot.index()).map(|slot| slot.ty).ok_or_else(|| format!("there is no slot {slot:?}"))
    }

    fn place(&self, place: Place) -> Checked<PlaceType> {
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
                Ok(PlaceType { element: array.element, rank: 1, atomic: array.atomic, writable: true })
            }
            Place::Local(id) => {
                let array = self.kernel.locals.get(id.index()).ok_or_else(missing)?;
                Ok(PlaceType { element: array.element, rank: 1, atomic: false, writable: true })
            }
        }
    }

    /// A place that is accessed at `index`, plainly or atomically.
    fn access(&self, place: Place, index: &[ExprId], atomic: bool) -> Checked<PlaceType> {
        let found = self.place(place)?;
        ensure(index.len() == found.rank, || {
            format!("{} indices for `{}` of rank {}", index.len(), self.kernel.place_name(place), found.rank)
        })?;
        index.iter().try_for_each(|&index| self.expect(index, Type::U32))?;
        ensure(found.atomic == atomic, || {
            let (memory, access) = if atomic { ("plain", "an atomic") } else { ("atomic", "a plain") };
            format!("{access} access to `{}`, which is {memory} memory", self.kernel.place_name(place))
        })?;
        Ok(found)
    }

    fn writable(&self, place: Place, found: &PlaceType) -> Checked {
        ensure(found.writable, || format!("a write to `{}`, which is read-only", self.kernel.place_name(place)))
    }

    fn result(&self, dst: SlotId, ty: Type) -> Checked {
        let found = self.slot(dst)?;
        ensure(found == ty, || format!("slot {dst:?} has type {found}, and gets a {ty}"))
    }

    fn block(&mut self, block: &[Stmt], labels: &mut Labels) -> Checked {
        block.iter().try_for_each(|stmt| self.stmt(stmt, labels))
    }

    fn define(&mut self, label: Label) -> Checked {
        ensure(self.defined.insert(label), || format!("label {label:?} is defined twice"))
    }

    fn stmt(&mut self, stmt: &Stmt, labels: &mut Labels) -> Checked {
        if let Some(site) = stmt.site() {
            self.at = site;
        }
        match stmt {
            Stmt::Assign { slot, value } => self.result(*slot, self.ty(*value)?),
            Stmt::Divide { dst, left, right, .. } => {
                let ty = self.ty(*left)?;
                ensure(ty.is_int(), || format!("integer division of {ty}"))?;
                self.expect(*right, ty)?;
                self.result(*dst, ty)
            }
            Stmt::Load { dst, place, index, .. } => {
                let found = self.access(*place, index, false)?;
                self.result(*dst, found.element)
            }
            Stmt::LoadLanes { dst, place, index, .. } => {
                let found = self.access(*place, &[*index], false)?;
                let lanes = self.place(Place::Local(*dst))?;
                let (from, to) = (found.element, lanes.element);
                ensure(from == to, || format!("lanes of {from} into an array of {to}"))
            }
            Stmt::Store { place, index, value, .. } => {
                let found = self.access(*place, index, false)?;
                self.writable(*place, &found)?;
                self.expect(*value, found.element)
            }
            Stmt::AtomicLoad { dst, place, index, .. } => {
                let found = self.access(*place, index, true)?;
                self.result(*dst, found.element)
            }
            Stmt::AtomicStore { place, index, value, .. } => {
                let found = self.access(*place, index, true)?;
                self.expect(*value, found.element)
            }
            Stmt::AtomicUpdate { dst, op, place, index, operand, .. } => {
                let found = self.access(*place, index, true)?;
                let ty = found.element;
                ensure(op.applies_to(ty), || format!("atomic {} on {ty}", op.name()))?;
                self.expect(*operand, ty)?;
                self.result(*dst, ty)
            }
            Stmt::CompareExchange { dst, place, index, expected, desired, .. } => {
                let found = self.access(*place, index, true)?;
                let ty = found.element;
                ensure(ty.is_int(), || format!("compare_exchange on {ty}"))?;
                self.expect(*expected, ty)?;
                self.expect(*desired, ty)?;
                self.result(*dst, ty)
            }
            Stmt::Fence { .. } | Stmt::Barrier { .. } | Stmt::Return => Ok(()),
            Stmt::If { condition, then, otherwise } => {
                self.expect(*condition, Type::Bool)?;
                self.block(then, labels)?;
                self.block(otherwise, labels)
            }
            Stmt::Loop { label, body, continuing, .. } => {
                self.define(*label)?;
                labels.push((*label, true));
                let checked = self.block(body, labels);
                labels.pop();
                checked?;
                // `continuing` runs straight through, so no label of the outside is in scope there.
                self.block(continuing, &mut Vec::new())
            }
            Stmt::Block { label, body } => {
                self.define(*label)?;
                labels.push((*label, false));
                let checked = self.block(body, labels);
                labels.pop();
                checked
            }
            Stmt::Break(label) => {
                let known = labels.iter().any(|(known, _)| known == label);
                ensure(known, || format!("break to {label:?}, which does not enclose it"))
            }
            Stmt::Continue(label) => {
                let known = labels.contains(&(*label, true));
                ensure(known, || format!("continue of {label:?}, which is no loop around it"))
            }
            Stmt::Assert { condition, .. } => self.expect(*condition, Type::Bool),
        }
    }
}

/// What the verifier needs to know of a place.
struct PlaceType {
    element: Type,
    rank: usize,
    atomic: bool,
    writable: bool,
}

impl Stmt {
    /// The source line of the statement, where it has one.
    pub fn site(&self) -> Option<Site> {
        match self {
            Stmt::Divide { site, .. }
            | Stmt::Load { site, .. }
            | Stmt::LoadLanes { site, .. }
            | Stmt::Store { site, .. }
            | Stmt::AtomicLoad { site, .. }
            | Stmt::AtomicStore { site, .. }
            | Stmt::AtomicUpdate { site, .. }
            | Stmt::CompareExchange { site, .. }
            | Stmt::Fence { site, .. }
            | Stmt::Barrier { site }
            | Stmt::Loop { site, .. }
            | Stmt::Assert { site, .. } => Some(*site),
            _ => None,
        }
    }

    /// The scope of the statement, where it has one.
    pub fn scope(&self) -> Option<Scope> {
        match self {
            Stmt::AtomicLoad { scope, .. }
            | Stmt::AtomicStore { scope, .. }
            | Stmt::AtomicUpdate { scope, .. }
            | Stmt::CompareExchange { scope, .. }
            | Stmt::Fence { scope, .. } => Some(*scope),
            _ => None,
        }
    }
}
