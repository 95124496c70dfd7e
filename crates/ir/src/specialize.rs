//! Kernels that ask what their device is: the answers are constants when the kernel is built for a device, and what
//! stands behind an answer that it does not give is left out, so that it may use what the device lacks.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use wattle_operations::device_properties;

use crate::rename::drop_unused;
use crate::visit::{walk, walk_mut};
use crate::{BinaryOp, Builtin, Const, Expr, ExprId, Kernel, LocalArray, Place, SharedLen, SlotId, Stmt, Type, eval};

macro_rules! properties {
    ([$warp_size:ident $sm:ident] $($(#[$doc:meta])* $variant:ident $method:ident $name:ident $answer:ident
        {host: $host:expr, cuda: $cuda:expr, vulkan: $vulkan:expr})+) => {
        /// What a kernel can ask of the device that it is built for; the answer is a `u32`, 0 for no.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum DeviceProperty {
            $($(#[$doc])* $variant,)+
        }

        impl DeviceProperty {
            /// All properties of devices that kernels can ask for, in order.
            pub const ALL: [DeviceProperty; [$(DeviceProperty::$variant),+].len()] = [$(DeviceProperty::$variant),+];

            /// The answer of a device that is made of the host's cores, with warps of that size: the host devices, the
            /// simulated ones and the checker.
            pub const fn on_host(self, $warp_size: u32) -> u32 {
                match self {
                    $(DeviceProperty::$variant => $host,)+
                }
            }

            /// The answer of a CUDA device of this compute capability, in tenths.
            pub const fn on_cuda(self, $sm: u32) -> u32 {
                match self {
                    $(DeviceProperty::$variant => $cuda,)+
                }
            }

            /// The answer of a Vulkan device with all features; 0 for the size of a warp, which is known when the
            /// kernel runs.
            pub const fn on_vulkan(self) -> u32 {
                match self {
                    $(DeviceProperty::$variant => $vulkan,)+
                }
            }

            /// The name in the printed kernel.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DeviceProperty::$variant => concat!("device.", stringify!($name)),)+
                }
            }
        }
    };
}
device_properties!(properties);

/// The kernel for a device of which `answers` says what it is: `None` where that is known when the kernel runs. It must
/// be one that [`verify`](crate::verify()) accepts; the new one is so too.
pub fn specialize<'k>(kernel: &'k Kernel, answers: &dyn Fn(DeviceProperty) -> Option<u32>) -> Cow<'k, Kernel> {
    let asks = |expr: &Expr| matches!(expr, Expr::Builtin(Builtin::Device(_), _));
    if !kernel.exprs.iter().any(asks) {
        return Cow::Borrowed(kernel);
    }
    let types = kernel.expr_types();
    let mut special = kernel.clone();
    // The constants that depend on answers; all others stay as they are written.
    let mut known: Vec<Option<u64>> = vec![None; special.exprs.len()];
    for (number, expr) in special.exprs.iter_mut().enumerate() {
        let Expr::Builtin(Builtin::Device(property), _) = *expr else { continue };
        match answers(property) {
            Some(answer) => known[number] = Some(answer.into()),
            None => *expr = Expr::Builtin(Builtin::WarpSize, 0),
        }
    }
    fold(&special, &types, &mut known);
    let mut body = std::mem::take(&mut special.body);
    Chooser { kernel: &special, types: &types, known: &known }.block(&mut body, &mut FxHashMap::default());
    special.body = body;
    // A choice by what is known is its one side.
    let mut ids: Vec<ExprId> = Vec::with_capacity(special.exprs.len());
    for (number, expr) in special.exprs.iter_mut().enumerate() {
        expr.operands_mut().for_each(|id| *id = ids[id.index()]);
        let id = match (known[number], *expr) {
            (Some(raw), _) => {
                *expr = Expr::Const(Const { ty: types[number], raw });
                ExprId(number as u32)
            }
            (None, Expr::Select(condition, x, y)) => match known[condition.index()] {
                Some(holds) => {
                    if holds != 0 {
                        x
                    } else {
                        y
                    }
                }
                None => ExprId(number as u32),
            },
            (None, _) => ExprId(number as u32),
        };
        ids.push(id);
    }
    walk_mut(&mut special.body, &mut |stmt| stmt.operands_mut().for_each(|id| *id = ids[id.index()]));
    drop_unused(&mut special);
    drop_memory(&mut special);
    Cow::Owned(special)
}

/// Finds the expressions that answers make constant, whatever variables hold.
fn fold(kernel: &Kernel, types: &[Type], known: &mut [Option<u64>]) {
    for number in 0..kernel.exprs.len() {
        let depends = kernel.exprs[number].operands().any(|id| known[id.index()].is_some());
        if depends {
            known[number] = evaluate(kernel, types, number, &|id| match kernel.exprs[id.index()] {
                Expr::Const(constant) => Some(constant.raw),
                _ => known[id.index()],
            });
        }
    }
}

/// The value of an expression of whose operands some are known.
fn evaluate(kernel: &Kernel, types: &[Type], number: usize, raw: &dyn Fn(ExprId) -> Option<u64>) -> Option<u64> {
    match kernel.exprs[number] {
        Expr::Const(constant) => Some(constant.raw),
        Expr::Select(condition, x, y) => raw(if raw(condition)? != 0 { x } else { y }),
        // What one side decides.
        Expr::Binary(BinaryOp::And, x, y) if raw(x) == Some(0) || raw(y) == Some(0) => Some(0),
        Expr::Binary(BinaryOp::Or, x, y) if types[number] == Type::Bool && (raw(x) == Some(1) || raw(y) == Some(1)) => {
            Some(1)
        }
        Expr::Unary(op, x) => Some(eval::unary(op, types[x.index()], raw(x)?)),
        Expr::Binary(op, x, y) => Some(eval::binary(op, types[x.index()], raw(x)?, raw(y)?)),
        Expr::Ternary(op, x, y, z) => Some(eval::ternary(op, types[x.index()], raw(x)?, raw(y)?, raw(z)?)),
        Expr::Cast(to, x) => Some(eval::cast(types[x.index()], to, raw(x)?)),
        Expr::Bits(_, x) => raw(x),
        Expr::Slot(_) | Expr::Param(_) | Expr::Extent(..) | Expr::Builtin(..) => None,
    }
}

/// What variables hold at a point, where it is known.
type Held = FxHashMap<SlotId, u64>;

/// Leaves the sides out that conditions which are known do not take.
struct Chooser<'k> {
    kernel: &'k Kernel,
    types: &'k [Type],
    /// The expressions that answers make constant.
    known: &'k [Option<u64>],
}

impl Chooser<'_> {
    fn block(&self, block: &mut Vec<Stmt>, held: &mut Held) {
        let mut chosen = Vec::with_capacity(block.len());
        let mut rest: Vec<Stmt> = std::mem::take(block);
        rest.reverse();
        while let Some(mut stmt) = rest.pop() {
            match &mut stmt {
                Stmt::If { condition, then, otherwise } => {
                    if let Some(holds) = self.value(*condition, held) {
                        let side = std::mem::take(if holds != 0 { then } else { otherwise });
                        rest.extend(side.into_iter().rev());
                        continue;
                    }
                    let mut beside = held.clone();
                    self.block(then, held);
                    self.block(otherwise, &mut beside);
                    held.retain(|slot, value| beside.get(slot) == Some(value));
                }
                Stmt::Assign { slot, value } => {
                    match self.value(*value, held) {
                        Some(value) => held.insert(*slot, value),
                        None => held.remove(slot),
                    };
                }
                other => {
                    // A loop begins with what its turns leave, and a block is left in its midst.
                    let forget = |stmt: &Stmt, held: &mut Held| {
                        walk(std::slice::from_ref(stmt), &mut |stmt| {
                            if let Some(slot) = stmt.assigned() {
                                held.remove(&slot);
                            }
                        });
                    };
                    forget(other, held);
                    other.blocks_mut().for_each(|inner| self.block(inner, &mut held.clone()));
                }
            }
            let ends = stmt.jump().is_some();
            chosen.push(stmt);
            // Nothing behind a jump is reached.
            if ends {
                break;
            }
        }
        *block = chosen;
    }

    /// The value of an expression at a point, where it is known.
    fn value(&self, root: ExprId, held: &Held) -> Option<u64> {
        let (mut needed, mut seen) = (Vec::new(), FxHashSet::default());
        self.kernel.walk_expr(root, &mut |id, _| {
            let is_new = self.known[id.index()].is_none() && seen.insert(id);
            needed.extend(is_new.then_some(id));
            is_new
        });
        // Expressions refer only to earlier ones.
        needed.sort_unstable();
        let mut values: FxHashMap<ExprId, u64> = FxHashMap::default();
        for id in needed {
            let raw = |id: ExprId| self.known[id.index()].or_else(|| values.get(&id).copied());
            let value = match self.kernel.exprs[id.index()] {
                Expr::Slot(slot) => held.get(&slot).copied(),
                _ => evaluate(self.kernel, self.types, id.index(), &raw),
            };
            if let Some(value) = value {
                values.insert(id, value);
            }
        }
        self.known[root.index()].or_else(|| values.get(&root).copied())
    }
}

/// Gives variables and arrays that nothing uses any more a type that every device has, and drops assignments to such
/// variables.
fn drop_memory(kernel: &mut Kernel) {
    let mut read = vec![false; kernel.slots.len()];
    kernel.exprs.iter().filter_map(|expr| expr.parts().slot.copied()).for_each(|slot| read[slot.index()] = true);
    let is_dead = |slot: &SlotId| !read[slot.index()];
    let mut body = std::mem::take(&mut kernel.body);
    retain(&mut body, &|stmt| !matches!(stmt, Stmt::Assign { slot, .. } if is_dead(slot)));
    kernel.body = body;
    drop_unused(kernel);
    let (mut slots, mut locals, mut shared) =
        (vec![false; kernel.slots.len()], vec![false; kernel.locals.len()], vec![false; kernel.shared.len()]);
    let place_of = |place: Place, locals: &mut [bool], shared: &mut [bool]| match place {
        Place::Local(id) => locals[id.index()] = true,
        Place::Shared(id) => shared[id.index()] = true,
        Place::Param(_) => {}
    };
    kernel.walk(&mut |stmt| {
        let parts = stmt.parts();
        parts.slot.into_iter().for_each(|slot| slots[slot.index()] = true);
        parts.array.into_iter().for_each(|array| locals[array.index()] = true);
        parts.place.into_iter().for_each(|&place| place_of(place, &mut locals, &mut shared));
    });
    for expr in &kernel.exprs {
        let parts = expr.parts();
        parts.slot.into_iter().for_each(|slot| slots[slot.index()] = true);
        parts.place.into_iter().for_each(|&place| place_of(place, &mut locals, &mut shared));
    }
    kernel.slots.iter_mut().zip(slots).filter(|(_, used)| !used).for_each(|(slot, _)| slot.ty = Type::U32);
    let unused = kernel.locals.iter_mut().zip(locals).filter(|(_, used)| !used);
    unused.for_each(|(array, _)| *array = LocalArray::new(Type::U32, 1));
    // The arrays of one kind of elements stay together.
    let first = |number: usize| kernel.shared[number].field.map_or(number, |field| field.first.index());
    let used = |number: usize| (0..shared.len()).any(|other| shared[other] && first(other) == first(number));
    let shared: Vec<bool> = (0..shared.len()).map(used).collect();
    // The launch gives the length of an array that has none by itself, in its own elements.
    let unused = kernel.shared.iter_mut().zip(shared).filter(|(array, used)| !used && array.len != SharedLen::AtLaunch);
    unused.for_each(|(array, _)| {
        (array.element, array.atomic, array.len) = (Type::U32, false, SharedLen::Static(1));
        array.field = None;
    });
}

fn retain(block: &mut Vec<Stmt>, keep: &dyn Fn(&Stmt) -> bool) {
    block.retain(|stmt| keep(stmt));
    block.iter_mut().for_each(|stmt| stmt.blocks_mut().for_each(|inner| retain(inner, keep)));
}
