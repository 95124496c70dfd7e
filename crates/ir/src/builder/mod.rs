//! Builds kernels: what the second function that `#[kernel]` emits is written in.
//!
//! A [`Builder`] holds the kernel that is being built. Expressions are [`Val`]s, whose Rust types are inferred by
//! rustc as those of the user's own code are, so generics and const generics cost nothing here. Statements are
//! appended to the block that is open; control flow opens and closes blocks. The surfaces [`Acc`], [`Read`],
//! [`PerItem`], [`Shared`], [`Atomic`] and [`Array`] have the methods of the things that they stand for.
//!
//! The traits of operators ([`Arithmetic`](crate::Arithmetic), [`Comparable`](crate::Comparable), [`Bits`](crate::Bits))
//! say what an operator is on the host and what it is here, so their files and this module use one another.

mod acc;
mod access;
mod array;
mod atomic;
mod compositions;
mod control;
mod dimension;
mod element;
mod faulting;
mod items;
mod iterate;
mod later;
mod message;
mod operators;
mod places;
mod sealed;
mod stored;
mod this_device;
mod total;
mod value;
mod view;
mod warp;
pub mod wide;
mod width;

use std::cell::RefCell;

use message::message;
use rustc_hash::FxHashMap;
pub(crate) use sealed::Sealed;
use wattle_memory::{FenceOrder, Scope};

pub use acc::Acc;
#[doc(hidden)]
pub use acc::Acc as AccPlaces;
pub use access::{Extents, Get, Set, extent, get, is_empty, len, set};
pub use array::Array;
pub use element::{Element, ElementVariable, Family, Memory, OfElement, Places, Values, Variables};
#[doc(hidden)]
pub use faulting::overflow;
pub use items::{Items, Views};
pub use iterate::{
    Inclusive, IndexLayout, IndexRange, Indices, Iterate, LoopHandle, Range, Reversed, STEP_OF_ZERO, Stepped, step_by,
};
pub use later::Later;
pub use message::{Argument, Printable, argument};
pub use operators::Logic;
pub use places::{NO_AXIS, axis, delinearize, linearize, with_axis};
pub use this_device::ThisDevice;
pub use total::{TOO_MANY_INDICES, too_many_indices};
#[doc(hidden)]
pub use value::{Constant, ConstantCast};
pub use value::{Given, IrValue, Lift, Val, Var, Variable};
pub use view::{Atomic, ElementRef, Elements, LaneCount, Lanes, PerItem, Read, Refs, Shared, element, lanes};
pub use warp::{Mask, Warp};

use crate::message::Text;
use crate::rename::drop_unused;
use crate::{
    Access, Axes, Const, ElementLayout, Expr, ExprId, Field, Kernel, Label, LocalArray, LocalId, Number, Param,
    ParamId, ParamKind, Place, Scalar, SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, Type, VerifyError,
    verify,
};

/// How deep device functions may call each other; each call is built in place, so recursion has no end.
const MAX_CALL_DEPTH: usize = 64;

/// A kernel that is being built.
pub struct Builder {
    state: RefCell<BuilderState>,
    /// How loops over indices are dealt out where the kernel does not say it.
    index_layout: IndexLayout,
}

/// What a kernel's indices are, in its source and in the launches that it is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexWidth {
    /// Indices are `u32` in the source and in the launches.
    Word,
    /// `u64` in the source; all extents of the launches are less than 2³², so that indices which come from them are
    /// computed with 32 bits.
    Fitting,
    /// `u64` in the source and in the kernel: a view, or the grid, may have 2³² elements or more.
    Long,
}

struct BuilderState {
    kernel: Kernel,
    width: IndexWidth,
    /// The types of the expressions, of a kernel with `u64` in its source.
    types: Vec<Type>,
    /// The ids of the expressions there are, so that none is there twice.
    known: FxHashMap<Expr, ExprId>,
    /// For each slot, whether the user can assign to it; every other slot is assigned in one place.
    mutable: Vec<bool>,
    /// The statements of the blocks that are open, outermost first.
    blocks: Vec<Vec<Stmt>>,
    /// What each open block but the outermost belongs to.
    open: Vec<Open>,
    labels: u32,
    call_depth: usize,
    defect: Option<VerifyError>,
}

enum Open {
    Then { condition: ExprId },
    Otherwise { condition: ExprId, then: Vec<Stmt> },
    Loop { label: Label, bounded: bool, site: Site },
    Continuing { label: Label, bounded: bool, site: Site, body: Vec<Stmt> },
    Block { label: Label },
}

impl Builder {
    /// Starts the kernel `name`, defined at `site`, with launches of `rank` dimensions.
    pub fn new(name: &str, site: Site, rank: usize) -> Builder {
        let kernel = Kernel::new(name, site, rank);
        Builder {
            state: RefCell::new(BuilderState {
                kernel,
                width: IndexWidth::Word,
                types: Vec::new(),
                known: FxHashMap::default(),
                mutable: Vec::new(),
                blocks: vec![Vec::new()],
                open: Vec::new(),
                labels: 0,
                call_depth: 0,
                defect: None,
            }),
            index_layout: IndexLayout::Strided,
        }
    }

    /// Sets the width of indices.
    #[must_use]
    pub fn with_width(mut self, width: IndexWidth) -> Builder {
        let state = self.state.get_mut();
        (state.width, state.kernel.wide) = (width, width == IndexWidth::Long);
        self
    }

    /// Sets how the device deals out the indices of a loop for which the kernel does not say it.
    #[must_use]
    pub fn with_index_layout(self, index_layout: IndexLayout) -> Builder {
        Builder { index_layout, ..self }
    }

    /// Permits to add the sums over the kernel's loops in another order.
    pub fn reassociate(&self) {
        self.state.borrow_mut().kernel.reassociates = true;
    }

    /// The kernel, verified.
    ///
    /// # Errors
    /// What the verifier refuses, and device functions that call each other without end.
    pub fn finish(self) -> Result<Kernel, VerifyError> {
        let mut state = self.state.into_inner();
        state.kernel.body = state.blocks.swap_remove(0);
        if let Some(defect) = state.defect {
            return Err(defect);
        }
        if state.width == IndexWidth::Fitting {
            // A device without integers of 64 bits runs what does without.
            drop_unused(&mut state.kernel);
        }
        verify(&state.kernel)?;
        Ok(state.kernel)
    }

    /// The kernel as it is: what an expansion is taken out of.
    pub(crate) fn unverified(self) -> Kernel {
        let mut state = self.state.into_inner();
        state.kernel.body = state.blocks.swap_remove(0);
        state.kernel
    }

    /// Declares a parameter that is a truth value or a number.
    pub fn scalar<T: Scalar>(&self, name: &'static str) -> Val<'_, T> {
        let id = self.param(Param { name, kind: ParamKind::Scalar(T::TYPE), field: None });
        self.val(Expr::Param(id))
    }

    /// Declares a parameter that is an element: one for each of its numbers.
    pub fn value<T: Element>(&self, name: &'static str) -> T::Built<'_> {
        let mut number = 0;
        let ids = T::make(&mut |ty| {
            let param = Param { name, kind: ParamKind::Scalar(ty), field: self.field(T::LAYOUT, number) };
            number += 1;
            self.intern(Expr::Param(self.param(param)))
        });
        T::of_ids(self, ids)
    }

    /// Declares a parameter that is a view: one for each number of its elements. Gives the first.
    pub fn view<T: Element>(&self, name: &'static str, access: Access, rank: usize) -> Place {
        let first = self.state.borrow().kernel.params.len() as u32;
        for (number, leaf) in T::LAYOUT.numbers().iter().enumerate() {
            let kind = ParamKind::View { access, element: leaf.ty, rank };
            self.param(Param { name, kind, field: self.field(T::LAYOUT, number) });
        }
        Place::Param(ParamId(first))
    }

    /// What the next parameter says of itself as this number of an element; `None` where the element is the number.
    fn field(&self, layout: &'static ElementLayout, number: usize) -> Option<Field> {
        let first = self.state.borrow().kernel.params.len() as u32 - number as u32;
        Field::of(ParamId(first), layout, number)
    }

    fn param(&self, param: Param) -> ParamId {
        let params = &mut self.state.borrow_mut().kernel.params;
        params.push(param);
        ParamId(params.len() as u32 - 1)
    }

    /// Declares arrays in shared memory, one for each number of the elements. Gives the first.
    pub(crate) fn declare_shared(&self, layout: &ElementLayout, len: SharedLen, atomic: bool, site: Site) -> Place {
        let shared = &mut self.state.borrow_mut().kernel.shared;
        let first = SharedId(shared.len() as u32);
        for (number, leaf) in layout.numbers().iter().enumerate() {
            let field = Field::of(first, layout, number);
            shared.push(SharedArray { name: "shared", element: leaf.ty, len, atomic, site, field });
        }
        Place::Shared(first)
    }

    /// Names an array in shared memory, after the variable that holds it; it is an array for each of the `numbers` that
    /// an element has.
    pub(crate) fn name_place(&self, place: Place, numbers: usize, name: &'static str) {
        if let Place::Shared(id) = place {
            for array in self.state.borrow_mut().kernel.shared.iter_mut().skip(id.index()).take(numbers) {
                if array.name == "shared" {
                    array.name = name;
                }
            }
        }
    }

    pub(crate) fn declare_local(&self, element: Type, len: usize) -> LocalId {
        let locals = &mut self.state.borrow_mut().kernel.locals;
        locals.push(LocalArray::new(element, len as u32));
        LocalId(locals.len() as u32 - 1)
    }

    /// An array of constants; arrays with equal elements are declared once.
    pub(crate) fn declare_constants(&self, element: Type, raw: Vec<u64>) -> LocalId {
        let locals = &mut self.state.borrow_mut().kernel.locals;
        let known = |array: &LocalArray| array.element == element && array.constants.as_ref() == Some(&raw);
        if let Some(known) = locals.iter().position(known) {
            return LocalId(known as u32);
        }
        locals.push(LocalArray { element, len: raw.len() as u32, constants: Some(raw) });
        LocalId(locals.len() as u32 - 1)
    }

    pub(crate) fn declare_slot(&self, ty: Type, name: Option<&'static str>, mutable: bool) -> SlotId {
        let state = &mut *self.state.borrow_mut();
        state.kernel.slots.push(Slot { ty, name });
        state.mutable.push(mutable);
        SlotId(state.kernel.slots.len() as u32 - 1)
    }

    /// A slot for the result of a statement.
    pub(crate) fn temporary<T: Scalar>(&self) -> SlotId {
        self.declare_slot(T::TYPE, None, false)
    }

    pub(crate) fn push(&self, stmt: Stmt) {
        if let Some(block) = self.state.borrow_mut().blocks.last_mut() {
            block.push(stmt);
        }
    }

    pub(crate) fn intern(&self, expr: Expr) -> ExprId {
        let state = &mut *self.state.borrow_mut();
        *state.known.entry(expr).or_insert_with(|| {
            if state.width != IndexWidth::Word {
                // What is ill typed is refused when the kernel is verified.
                state.types.push(state.kernel.type_of(&expr, &state.types).unwrap_or(Type::Bool));
            }
            state.kernel.exprs.push(expr);
            ExprId(state.kernel.exprs.len() as u32 - 1)
        })
    }

    pub(crate) fn expr(&self, id: ExprId) -> Expr {
        self.state.borrow().kernel.exprs[id.index()]
    }

    pub(crate) fn constant(&self, id: ExprId) -> Option<Const> {
        self.state.borrow().kernel.constant(id)
    }

    pub(crate) fn val<T: Scalar>(&self, expr: Expr) -> Val<'_, T> {
        Val::new(self, self.intern(expr))
    }

    /// The value of a slot that is assigned in one place.
    pub(crate) fn read_slot<T: Scalar>(&self, slot: SlotId) -> Val<'_, T> {
        self.val(Expr::Slot(slot))
    }

    /// The value, held: what it is now is what every later use sees. Named after the user's variable.
    pub(crate) fn hold<'b, T: Scalar>(&'b self, value: Val<'b, T>, name: Option<&'static str>) -> Val<'b, T> {
        Val::new(self, self.hold_of(T::TYPE, value.id, name))
    }

    pub(crate) fn hold_of(&self, ty: Type, value: ExprId, name: Option<&'static str>) -> ExprId {
        if let Some(word) = self.as_word(value)
            && self.constant(value).is_none()
        {
            let held = self.hold_of(Type::U32, word, name);
            return self.intern(Expr::Cast(Type::U64, held));
        }
        match self.expr(value) {
            Expr::Const(_) | Expr::Param(_) | Expr::Builtin(..) | Expr::Extent(..) => return value,
            Expr::Slot(slot) => {
                let state = &mut *self.state.borrow_mut();
                if !state.mutable[slot.index()] {
                    let held = &mut state.kernel.slots[slot.index()].name;
                    *held = held.or(name);
                    return value;
                }
            }
            _ => {}
        }
        let slot = self.declare_slot(ty, name, false);
        self.push(Stmt::Assign { slot, value });
        self.intern(Expr::Slot(slot))
    }

    /// A zero of the type.
    pub(crate) fn zero_of(&self, ty: Type) -> ExprId {
        self.intern(Expr::Const(Const { ty, raw: 0 }))
    }

    /// Builds a literal.
    pub fn lit<T: Scalar>(&self, value: T) -> Val<'_, T> {
        self.val(Expr::Const(Const::of(value)))
    }

    /// A literal, converted as Rust's `as` does it.
    pub fn lit_as<T: Scalar, U: Number>(&self, value: T) -> Val<'_, U> {
        self.lit(U::cast_from(value))
    }

    /// A constant of the user's, converted as Rust's `as` does it.
    pub fn constant_as<T: ConstantCast, U: Number>(&self, value: T) -> Val<'_, U> {
        self.lit(value.converted())
    }

    /// A constant of the user's, or one of the library's markers (a scope, an order, a worker).
    pub fn lift<L: Lift>(&self, value: L) -> L::Built<'_> {
        value.lift(self)
    }

    /// An array of these values.
    pub fn array<'b, V: OfElement<'b>, const N: usize>(&'b self, values: [V; N]) -> Array<'b, V::Element, N> {
        Array::of_ids(self, values.map(V::element_ids))
    }

    /// An array of one value, repeated.
    pub fn repeat<'b, V: OfElement<'b>, const N: usize>(&'b self, value: V) -> Array<'b, V::Element, N> {
        Array::of_ids(self, [element::hold::<V::Element>(self, value.element_ids(), None); N])
    }

    /// Builds `let name = value`.
    #[track_caller]
    pub fn bind<'b, V: IrValue<'b>>(&'b self, value: V, name: &'static str) -> V {
        value.bind(self, Some(name))
    }

    /// What is assigned to the variable `name`: a value with parts as it is now.
    #[track_caller]
    pub fn apart<'b, V: IrValue<'b>>(&'b self, value: V, name: &'static str) -> V {
        value.apart(self, Some(name))
    }

    /// The value as it is now: later assignments do not change it.
    #[track_caller]
    pub fn copied<'b, V: IrValue<'b>>(&'b self, value: V) -> V {
        value.bind(self, None)
    }

    /// Builds `let mut name = value`.
    #[track_caller]
    pub fn variable<'b, V: IrValue<'b>>(&'b self, value: V, name: &'static str) -> V::Var {
        value.variable(self, Some(name))
    }

    /// A variable for the value that the branches of an `if` give; it is not assigned to after the `if`.
    #[track_caller]
    pub fn join<'b, V: IrValue<'b>>(&'b self, value: V) -> V::Var {
        value.variable(self, None)
    }

    /// The value of a loop or block that is left by `break value`.
    pub fn given<'b, V: IrValue<'b>>(&'b self) -> Given<'b, V> {
        Given::new(self)
    }

    /// An arbitrary value for code that is never reached: after a `return`, `break` or `continue`.
    pub fn unreachable<'b, V: IrValue<'b>>(&'b self) -> V {
        V::unreachable(self)
    }

    /// Drops a value: an expression statement.
    pub fn discard<V>(&self, _: V) {}

    /// Builds `assert!(condition, text, arguments…)`.
    #[track_caller]
    pub fn assert(&self, condition: Val<'_, bool>, text: Text, arguments: &[Argument]) {
        self.push(Stmt::Assert { condition: condition.id, message: message(text, arguments), site: Site::caller() });
    }

    /// Builds `println!(text, arguments…)`.
    #[track_caller]
    pub fn print(&self, text: Text, arguments: &[Argument]) {
        self.push(Stmt::Print { message: message(text, arguments), site: Site::caller() });
    }

    #[track_caller]
    pub(crate) fn fence(&self, scope: Scope, order: FenceOrder) {
        self.push(Stmt::Fence { order, scope, site: Site::caller() });
    }

    /// The extents of a place.
    #[track_caller]
    pub(crate) fn extent<'b, R: Axes>(&'b self, place: Place, rank: usize) -> R::Built<'b> {
        let all: Vec<_> = {
            let mut all = Vec::with_capacity(rank);
            for d in 0..rank {
                all.push(self.extent_of(place, d as u8));
            }
            all
        };
        R::gather_built(self, &all)
    }
}
