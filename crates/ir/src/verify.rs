//! Refuses ill-typed kernels, with the place.

use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::message::{MOST_ARGUMENTS, Message, Piece};
use crate::typing::{Checked, PlaceType, Typing, ensure};
use crate::{
    Access, ExprId, Field, Kernel, Label, MAX_RANK, Param, ParamKind, Place, SharedArray, SharedLen, Site, SlotId,
    Stmt, Type,
};

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
    verify_at(kernel, Stage::Written)
}

/// Verifies, as [`verify`] does, a kernel that was legalized.
pub(crate) fn verify_legal(kernel: &Kernel) -> Result<(), VerifyError> {
    verify_at(kernel, Stage::Legal)
}

/// How far a kernel has been compiled.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The kernel is as it was written.
    Written,
    /// The kernel was legalized for a target: it has faults and no assertions.
    Legal,
}

fn verify_at(kernel: &Kernel, stage: Stage) -> Result<(), VerifyError> {
    let (types, defined) = (Vec::with_capacity(kernel.exprs.len()), FxHashSet::default());
    let mut verifier = Verifier { kernel, stage, types, defined, at: kernel.site };
    verifier.all().map_err(|what| VerifyError { kernel: kernel.name.clone(), at: verifier.at, what })
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    stage: Stage,
    /// The types of the expressions that have been checked.
    types: Vec<Type>,
    /// The labels that have been defined.
    defined: FxHashSet<Label>,
    at: Site,
}

/// A label in scope, and whether it is a loop's.
type Labels = Vec<(Label, bool)>;

impl Verifier<'_> {
    fn all(&mut self) -> Checked {
        let kernel = self.kernel;
        ensure((1..=MAX_RANK).contains(&kernel.rank), || format!("rank {} is not in 1..={MAX_RANK}", kernel.rank))?;
        for (number, param) in kernel.params.iter().enumerate() {
            self.field(number, param)?;
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
        for (number, array) in kernel.shared.iter().enumerate() {
            self.shared_field(number, array)?;
            let (name, element) = (array.name, array.element);
            ensure(element != Type::Bool, || format!("shared array `{name}` is of bool"))?;
            if let SharedLen::Grid(extents) = array.len {
                let rank = extents.rank;
                ensure((2..=MAX_RANK).contains(&rank), || format!("shared array `{name}` has rank {rank}"))?;
                ensure(extents.count().is_some(), || {
                    format!("shared array `{name}` of {:?} has more than 2^32 - 1 elements", &extents.each[..rank])
                })?;
            }
            ensure(!array.atomic || element.is_atomic(), || {
                format!("shared array `{name}`: there are no atomic operations on {element}")
            })?;
        }
        for (number, array) in kernel.locals.iter().enumerate() {
            let Some(constants) = &array.constants else { continue };
            let (found, len) = (constants.len(), array.len);
            ensure(found as u64 == u64::from(len), || {
                format!("array a{number} of {len} elements has {found} constants")
            })?;
        }
        for expr in &kernel.exprs {
            let ty = self.of().expr(expr)?;
            self.types.push(ty);
        }
        self.block(&kernel.body, &mut Vec::new())
    }

    /// Checks that a parameter that is a number of an element is one of those that stand together.
    fn field(&self, number: usize, param: &Param) -> Checked {
        let Some(Field { first, offset, size, .. }) = param.field else { return Ok(()) };
        let ty = match param.kind {
            ParamKind::Scalar(ty) | ParamKind::View { element: ty, .. } => ty,
        };
        let together = || {
            let first = self.kernel.params.get(first.index()).filter(|_| first.index() <= number)?;
            let is_of_one = match (first.kind, param.kind) {
                (ParamKind::Scalar(_), ParamKind::Scalar(_)) => true,
                (ParamKind::View { access: x, rank: m, .. }, ParamKind::View { access: y, rank: n, .. }) => {
                    (x, m) == (y, n)
                }
                (ParamKind::Scalar(_), ParamKind::View { .. }) | (ParamKind::View { .. }, ParamKind::Scalar(_)) => {
                    false
                }
            };
            (is_of_one && first.field.is_some_and(|field| field.size == size)).then_some(())
        };
        let name = param.name;
        ensure(together().is_some(), || {
            format!("parameter `{name}` is a number of an element that {first:?} does not begin")
        })?;
        ensure(fits(ty, offset, size), || {
            format!("parameter `{name}` is a {ty} at {offset} of an element of {size} bytes")
        })
    }

    /// Checks that an array that holds a number of elements is one of those that stand together.
    fn shared_field(&self, number: usize, array: &SharedArray) -> Checked {
        let Some(Field { first, offset, size, .. }) = array.field else { return Ok(()) };
        let (name, ty) = (array.name, array.element);
        let together = self.kernel.shared.get(first.index()).filter(|begin| {
            let is_of_one = (begin.len, begin.atomic) == (array.len, array.atomic);
            is_of_one && first.index() <= number && begin.field.is_some_and(|field| field.size == size)
        });
        ensure(together.is_some(), || {
            format!("shared array `{name}` is a number of an element that {first:?} does not begin")
        })?;
        ensure(fits(ty, offset, size), || {
            format!("shared array `{name}` is a {ty} at {offset} of an element of {size} bytes")
        })
    }

    fn of(&self) -> Typing<'_> {
        Typing { kernel: self.kernel, types: &self.types }
    }

    /// A place that is accessed at `index`, plainly or atomically.
    fn access(&self, place: Place, index: &[ExprId], atomic: bool) -> Checked<PlaceType> {
        let found = self.of().place(place)?;
        ensure(index.len() == found.rank, || {
            format!("{} indices for `{}` of rank {}", index.len(), self.kernel.place_name(place), found.rank)
        })?;
        index.iter().try_for_each(|&index| self.of().expect_index(index))?;
        ensure(found.atomic == atomic, || {
            let (memory, access) = if atomic { ("plain", "an atomic") } else { ("atomic", "a plain") };
            format!("{access} access to `{}`, which is {memory} memory", self.kernel.place_name(place))
        })?;
        Ok(found)
    }

    /// An access to numbers that lie side by side; those of one field of neighbouring elements do not.
    fn lanes(&self, place: Place, index: ExprId) -> Checked<PlaceType> {
        let found = self.access(place, &[index], false)?;
        ensure(!self.kernel.is_field(place), || {
            format!("lanes of `{}`, which is one field of its elements", self.kernel.place_name(place))
        })?;
        Ok(found)
    }

    fn writable(&self, place: Place, found: &PlaceType) -> Checked {
        ensure(found.writable, || format!("a write to `{}`, which is read-only", self.kernel.place_name(place)))
    }

    fn result(&self, dst: SlotId, ty: Type) -> Checked {
        let found = self.of().slot(dst)?;
        ensure(found == ty, || format!("slot {dst:?} has type {found}, and gets a {ty}"))
    }

    fn block(&mut self, block: &[Stmt], labels: &mut Labels) -> Checked {
        block.iter().try_for_each(|stmt| self.stmt(stmt, labels))
    }

    /// A message has a value for each number in its text.
    fn message(&self, Message { text, arguments }: &Message) -> Checked {
        let given = arguments.len();
        ensure(given <= MOST_ARGUMENTS, || format!("a message with {given} values; {MOST_ARGUMENTS} at the most"))?;
        for piece in text.0.iter() {
            let Piece::Value(number, _) = piece else { continue };
            ensure(*number < given, || format!("value {number} of a message that is given {given}"))?;
        }
        arguments.iter().try_for_each(|&value| self.of().ty(value).map(drop))
    }

    fn define(&mut self, label: Label) -> Checked {
        ensure(self.defined.insert(label), || format!("label {label:?} is defined twice"))
    }

    /// Verifies the body of a loop or of a block, in which its label is in scope.
    fn labelled(&mut self, label: Label, is_loop: bool, body: &[Stmt], labels: &mut Labels) -> Checked {
        self.define(label)?;
        labels.push((label, is_loop));
        let checked = self.block(body, labels);
        labels.pop();
        checked
    }

    fn stmt(&mut self, stmt: &Stmt, labels: &mut Labels) -> Checked {
        if let Some(site) = stmt.site() {
            self.at = site;
        }
        match stmt {
            Stmt::Assign { slot, value } => self.result(*slot, self.of().ty(*value)?),
            Stmt::Divide { dst, left, right, .. } => {
                let ty = self.of().ty(*left)?;
                ensure(ty.is_int(), || format!("integer division of {ty}"))?;
                self.of().expect(*right, ty)?;
                self.result(*dst, ty)
            }
            Stmt::Load { dst, place, index, .. } => {
                let found = self.access(*place, index, false)?;
                self.result(*dst, found.element)
            }
            Stmt::LoadLanes { dst, place, index, .. } => {
                let found = self.lanes(*place, *index)?;
                let lanes = self.of().place(Place::Local(*dst))?;
                self.writable(Place::Local(*dst), &lanes)?;
                let (from, to) = (found.element, lanes.element);
                ensure(from == to, || format!("lanes of {from} into an array of {to}"))
            }
            Stmt::Store { place, index, value, .. } => {
                let found = self.access(*place, index, false)?;
                self.writable(*place, &found)?;
                self.of().expect(*value, found.element)
            }
            Stmt::StoreLanes { place, index, values, .. } => {
                let found = self.lanes(*place, *index)?;
                self.writable(*place, &found)?;
                ensure(!matches!(place, Place::Local(_)), || {
                    "a store of lanes to an array of the thread's own".into()
                })?;
                ensure(!values.is_empty(), || "a store of no lanes".into())?;
                values.iter().try_for_each(|&value| self.of().expect(value, found.element))
            }
            Stmt::AtomicLoad { dst, place, index, .. } => {
                let found = self.access(*place, index, true)?;
                self.result(*dst, found.element)
            }
            Stmt::AtomicStore { place, index, value, .. } => {
                let found = self.access(*place, index, true)?;
                self.of().expect(*value, found.element)
            }
            Stmt::AtomicUpdate { dst, op, place, index, operand, .. } => {
                let found = self.access(*place, index, true)?;
                let ty = found.element;
                ensure(op.applies_to(ty), || format!("atomic {} on {ty}", op.name()))?;
                self.of().expect(*operand, ty)?;
                self.result(*dst, ty)
            }
            Stmt::CompareExchange { dst, place, index, expected, desired, .. } => {
                let found = self.access(*place, index, true)?;
                let ty = found.element;
                self.of().expect(*expected, ty)?;
                self.of().expect(*desired, ty)?;
                self.result(*dst, ty)
            }
            Stmt::Fence { .. } | Stmt::Barrier { .. } | Stmt::WarpBarrier { .. } | Stmt::Return => Ok(()),
            Stmt::Warp { dst, op, value, operand, .. } => {
                let ty = self.of().ty(*value)?;
                ensure(op.applies_to(ty), || format!("warp {} on {ty}", op.name()))?;
                ensure(op.has_operand() == operand.is_some(), || format!("the second operand of warp {}", op.name()))?;
                operand.iter().try_for_each(|&operand| self.of().expect(operand, Type::U32))?;
                self.result(*dst, op.result(ty))
            }
            Stmt::If { condition, then, otherwise } => {
                self.of().expect(*condition, Type::Bool)?;
                self.block(then, labels)?;
                self.block(otherwise, labels)
            }
            Stmt::Loop { label, body, continuing, .. } => {
                self.labelled(*label, true, body, labels)?;
                // `continuing` runs straight through, so no label of the outside is in scope there.
                self.block(continuing, &mut Vec::new())
            }
            Stmt::Block { label, body } => self.labelled(*label, false, body, labels),
            Stmt::Break(label) => {
                let known = labels.iter().any(|(known, _)| known == label);
                ensure(known, || format!("break to {label:?}, which does not enclose it"))
            }
            Stmt::Continue(label) => {
                let known = labels.contains(&(*label, true));
                ensure(known, || format!("continue of {label:?}, which is no loop around it"))
            }
            Stmt::Assert { condition, message, .. } => {
                ensure(self.stage == Stage::Written, || "an assertion, which is a fault by now".into())?;
                self.message(message)?;
                self.of().expect(*condition, Type::Bool)
            }
            Stmt::Print { message, .. } => {
                ensure(self.stage == Stage::Written, || "a line to print, which is a record by now".into())?;
                self.message(message)
            }
            Stmt::Clock { dst, .. } => self.result(*dst, Type::U64),
            Stmt::Fault { index, .. } => {
                ensure(self.stage == Stage::Legal, || "a fault, which no source says".into())?;
                index.iter().try_for_each(|&index| self.of().expect(index, Type::U32))
            }
        }
    }
}

/// Whether a number of this type may stand at an offset of an element of `size` bytes.
fn fits(ty: Type, offset: u32, size: u32) -> bool {
    let bytes = ty.size() as u64;
    u64::from(offset).is_multiple_of(bytes) && u64::from(offset) + bytes <= u64::from(size)
}
