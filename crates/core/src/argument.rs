//! The arguments of kernels: how a value or a part of a buffer is bound to a parameter.
//!
//! A bundle holds each argument as what it is in Rust ([`Arg`]). The host's function is given that; everyone else reads
//! an [`Argument`], which names the parameter and its type: the clocks, the devices, the checker and the errors.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use wattle_ir::builder::{self, Builder, IrValue};
use wattle_ir::{
    Access, ByValue, Dim, Element, ElementLayout, Field, KernelType, MAX_RANK, Param, ParamId, ParamKind, Rank, Type,
};

use crate::buffer::{Buffer, Part, RawBuffer, View, ViewMut};
use crate::clock::Region;
use crate::error::{Result, system};
use crate::thread::Thread;
use crate::view::{Atomic, PerItem, Read, Shared, Strided};

/// An argument of a kernel, with all that is known of its parameter.
#[derive(Clone, Copy)]
pub struct Argument<'a> {
    /// The parameter's name.
    pub name: &'static str,
    /// What is given for it.
    pub value: ArgumentValue<'a>,
    /// The layout of the element and the index of the number in it that this argument is for; `None` for an element of
    /// one number. An element of several numbers has an argument for each, in the order of the layout.
    pub number: Option<(&'static ElementLayout, usize)>,
}

/// What is given for a parameter.
#[derive(Clone, Copy)]
pub enum ArgumentValue<'a> {
    /// A value, the same for all threads.
    Scalar {
        /// The value's type.
        ty: Type,
        /// The value as it lies in memory.
        bytes: &'a [u8],
    },
    /// A part of a buffer.
    View(ViewArgument<'a>),
}

impl Argument<'_> {
    /// The parameter that the argument is for, which has this number.
    pub fn param(&self, id: ParamId) -> Param {
        let kind = match self.value {
            ArgumentValue::Scalar { ty, .. } => ParamKind::Scalar(ty),
            ArgumentValue::View(view) => {
                ParamKind::View { access: view.access, element: view.element(), rank: view.rank }
            }
        };
        let field = self.number.and_then(|(layout, number)| {
            let first = ParamId(id.0.saturating_sub(number as u32));
            Field::of(first, layout, number)
        });
        Param { name: self.name, kind, field }
    }

    /// Whether the argument is a view whose elements 32 bits do not number.
    pub(crate) fn is_long(&self) -> bool {
        match self.value {
            ArgumentValue::View(view) => view.is_long(),
            ArgumentValue::Scalar { .. } => false,
        }
    }

    /// Whether the argument is the first, or the only one, of those that are given as one value or view.
    #[inline]
    pub fn is_first(&self) -> bool {
        self.number.is_none_or(|(_, number)| number == 0)
    }
}

/// A part of a buffer as an argument.
#[derive(Clone, Copy)]
pub struct ViewArgument<'a> {
    pub(crate) buffer: &'a RawBuffer,
    pub(crate) region: &'a Region,
    pub(crate) access: Access,
    pub(crate) rank: usize,
    pub(crate) number: usize,
}

impl<'a> ViewArgument<'a> {
    /// What `place` returns for the buffer's memory, which is of type `M` on the device that the launch is for.
    ///
    /// # Errors
    /// The memory is of another type, or `place` returns `None`.
    pub fn place<M: Any, P>(&self, place: impl FnOnce(&'a M) -> Option<P>) -> Result<P> {
        let place = self.buffer.memory().as_any().downcast_ref().and_then(place);
        place.ok_or_else(|| system("launching a kernel", "a buffer is of another device"))
    }

    /// The type of the elements; where these have several numbers, of the one that the argument is for.
    pub fn element(&self) -> Type {
        self.buffer.layout.numbers()[self.number].ty
    }

    /// Index, in the layout of the elements, of the number that the argument is for.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The size of an element in bytes, all of its numbers included.
    pub fn element_bytes(&self) -> usize {
        self.buffer.layout.size()
    }

    /// Offset of the part's first element in the buffer, in elements.
    pub fn offset(&self) -> usize {
        self.buffer.offset(self.region.begin)
    }

    /// The extent, in elements; 1 in the dimensions behind the rank.
    pub fn extent(&self) -> [u64; MAX_RANK] {
        self.region.extent()
    }

    /// The distance of neighbours in each dimension, in elements.
    pub fn strides(&self) -> [u64; MAX_RANK] {
        self.buffer.strides()
    }

    /// The number of elements of the buffer from the first to the last of the part, both included.
    pub fn span(&self) -> u64 {
        let (extent, strides) = (self.extent(), self.strides());
        1 + (0..MAX_RANK).map(|d| extent[d].saturating_sub(1) * strides[d]).sum::<u64>()
    }

    /// Whether numbers of 32 bits do not count its elements, or do not number them within the buffer from the first on.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.buffer.is_long && self.span() > u64::from(u32::MAX)
    }
}

/// An argument of a bundle, for one parameter of the kernel's function.
///
/// # Safety
/// `argument` names the part of a buffer that `view` gives access to, with that access.
#[doc(hidden)]
pub unsafe trait Arg: Clone + Send + Sync + 'static {
    /// What the host's function is given.
    type View;
    /// What the builder is given.
    type Built<'b>;
    /// The number of parameters that the argument is for: one for each number of an element.
    const NUMBERS: usize;
    /// The argument for the parameter of this name, or for this number of it, which is below `NUMBERS`.
    fn argument_of(&self, name: &'static str, number: usize) -> Argument<'_>;
    /// The argument for the parameter of this name; the first one, where there are several.
    fn argument(&self, name: &'static str) -> Argument<'_> {
        self.argument_of(name, 0)
    }
    /// # Safety
    /// The requirements are those of [`Kernel::run`](crate::Kernel::run), and the view is not used once the thread has
    /// ended.
    unsafe fn view(&self, name: &'static str, thread: &Thread<'_>) -> Self::View;
    fn built<'b>(builder: &'b Builder, name: &'static str) -> Self::Built<'b>;
}

// SAFETY: a value is no part of a buffer.
unsafe impl<T: ByValue> Arg for T {
    type View = T;
    type Built<'b> = <T as KernelType>::Built<'b>;
    const NUMBERS: usize = T::NUMBERS;
    #[inline]
    fn argument_of(&self, name: &'static str, number: usize) -> Argument<'_> {
        let (ty, bytes, of) = self.number(number);
        Argument { name, value: ArgumentValue::Scalar { ty, bytes }, number: of.map(|layout| (layout, number)) }
    }
    #[inline(always)]
    unsafe fn view(&self, _: &'static str, _: &Thread<'_>) -> T {
        *self
    }
    fn built<'b>(builder: &'b Builder, name: &'static str) -> Self::Built<'b> {
        T::declare_parameters(builder, name)
    }
}

/// A part of a buffer, bound to a parameter of type `V`.
#[doc(hidden)]
pub struct Bound<V> {
    raw: Arc<RawBuffer>,
    region: Region,
    view: PhantomData<fn() -> V>,
}

impl<V> Clone for Bound<V> {
    fn clone(&self) -> Self {
        Bound { raw: self.raw.clone(), region: self.region, view: PhantomData }
    }
}

/// What can be given for a parameter of type `P`: for `Read`, `Shared` and `Atomic` a `&Buffer` or `&View`; for
/// `PerItem`, which is exclusive, a `&mut Buffer` or `ViewMut`. A `Buffer` by value is the launch's to free.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a parameter `{P}`",
    label = "not an argument for `{P}`",
    note = "`Read`, `Shared` and `Atomic` parameters take `&buffer` or a view of it, `PerItem` parameters take \
            `&mut buffer` or an exclusive view; element type and dimensions must be the parameter's"
)]
pub trait IntoArg<P> {
    #[doc(hidden)]
    fn into_arg(self) -> Bound<P>;
    /// Nobody calls it. Of a trait with such a method Clippy does not say that an argument need not be borrowed, which
    /// of a buffer is another thing: the launch would free it.
    #[doc(hidden)]
    fn __borrowed(&mut self) {}
}

macro_rules! view_arguments {
    ($($view:ident $bound:ident <- $($source:ty: $part:expr),+;)+) => {$(
        // SAFETY: both name the same region of the same buffer.
        unsafe impl<T: $bound, const D: usize> Arg for Bound<$view<T, D>>
        where
            Dim<D>: Rank,
        {
            type View = $view<T, D>;
            type Built<'b> = builder::$view<'b, T, D>;
            const NUMBERS: usize = T::LAYOUT.count();
            #[inline]
            fn argument_of(&self, name: &'static str, number: usize) -> Argument<'_> {
                let (buffer, region) = (&*self.raw, &self.region);
                let view = ViewArgument { buffer, region, access: Access::$view, rank: D, number };
                let number = (!T::LAYOUT.is_number()).then_some((T::LAYOUT, number));
                Argument { name, value: ArgumentValue::View(view), number }
            }
            #[inline(always)]
            unsafe fn view(&self, name: &'static str, thread: &Thread<'_>) -> $view<T, D> {
                let raw = &*self.raw;
                let (extent, strides) = (self.region.extent(), raw.strides());
                // SAFETY: the region is within the buffer, which the bundle owns, of elements of type `T`, or has no
                // element and begins where the buffer does; its memory is the host's and the clocks have allowed the
                // use, by the caller's promise. Without such memory the view has no element.
                $view(unsafe {
                    match raw.host {
                        Some(start) => {
                            let start = start.as_ptr().cast::<T>().add(raw.offset(self.region.begin));
                            Strided::new(start, extent, strides, name, thread)
                        }
                        None => Strided::new(std::ptr::null_mut(), [0; MAX_RANK], strides, name, thread),
                    }
                })
            }
            fn built<'b>(builder: &'b Builder, name: &'static str) -> Self::Built<'b> {
                builder::$view::new(builder, builder.view::<T>(name, Access::$view, D))
            }
        }

        $(#[diagnostic::do_not_recommend]
        impl<T: $bound, const D: usize> IntoArg<$view<T, D>> for $source
        where
            Dim<D>: Rank,
        {
            #[inline]
            fn into_arg(self) -> Bound<$view<T, D>> {
                let part: fn($source) -> Part<T, D> = $part;
                let Part { raw, region, .. } = part(self);
                Bound { raw, region, view: PhantomData }
            }
        })+
    )+};
}
view_arguments! {
    Read Element <- &Buffer<T, D>: |x| x.whole(), Buffer<T, D>: |x| x.whole(), &View<T, D>: |x| x.0.clone(), View<T, D>: |x| x.0;
    Shared Element <- &Buffer<T, D>: |x| x.whole(), Buffer<T, D>: |x| x.whole(), &View<T, D>: |x| x.0.clone(), View<T, D>: |x| x.0;
    Atomic Element <- &Buffer<T, D>: |x| x.whole(), Buffer<T, D>: |x| x.whole(), &View<T, D>: |x| x.0.clone(), View<T, D>: |x| x.0;
    PerItem Element <- &mut Buffer<T, D>: |x| x.whole(), Buffer<T, D>: |x| x.whole(), &mut ViewMut<T, D>: |x| x.0.clone(), ViewMut<T, D>: |x| x.0;
}

/// The arguments of a bundle: a tuple of [`Arg`]s.
///
/// # Safety
/// The requirements are those of [`Arg`].
#[doc(hidden)]
pub unsafe trait Arguments: Clone + Send + Sync + 'static {
    type Views;
    type Built<'b>;
    /// The argument of this number, if there is one, those for each number of an element counted; `names` are those of
    /// the parameters.
    fn argument(&self, number: usize, names: &'static [&'static str]) -> Option<Argument<'_>>;
    /// # Safety
    /// The requirements are those of [`Arg::view`].
    unsafe fn views(&self, names: &'static [&'static str], thread: &Thread<'_>) -> Self::Views;
    fn built<'b>(builder: &'b Builder, names: &'static [&'static str]) -> Self::Built<'b>;
}

/// Makes tuples of the first parameters, of the first two, and so on.
macro_rules! arguments {
    (@ $($name:ident $index:tt)*) => {
        // SAFETY: each argument keeps the promise of `Arg`.
        unsafe impl<$($name: Arg),*> Arguments for ($($name,)*) {
            type Views = ($($name::View,)*);
            type Built<'b> = ($($name::Built<'b>,)*);
            #[inline]
            fn argument(&self, number: usize, _names: &'static [&'static str]) -> Option<Argument<'_>> {
                let _number = number;
                $(
                    if _number < $name::NUMBERS {
                        return Some(self.$index.argument_of(_names[$index], _number));
                    }
                    let _number = _number - $name::NUMBERS;
                )*
                None
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            unsafe fn views(&self, _names: &'static [&'static str], _thread: &Thread<'_>) -> Self::Views {
                // SAFETY: the caller's promise.
                ($(unsafe { self.$index.view(_names[$index], _thread) },)*)
            }
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            fn built<'b>(_builder: &'b Builder, _names: &'static [&'static str]) -> Self::Built<'b> {
                ($($name::built(_builder, _names[$index]),)*)
            }
        }
    };
    ([$($done:tt)*]) => { arguments!(@ $($done)*); };
    ([$($done:tt)*] $name:ident $index:tt $($rest:tt)*) => {
        arguments!(@ $($done)*);
        arguments!([$($done)* $name $index] $($rest)*);
    };
}
arguments! {
    [] A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14 P 15 Q 16 R 17 S 18 T 19 U 20 V 21 W 22 X 23 Y 24
    Z 25 Aa 26 Ab 27 Ac 28 Ad 29 Ae 30 Af 31
}

const fn built_matches<'b, P, A>()
where
    P: KernelType,
    A: Arg<Built<'b> = P::Built<'b>>,
    P::Built<'b>: IrValue<'b>,
{
}
// A device function's parameter and a kernel's argument have the same type in the builder.
const _: () = built_matches::<f32, f32>();
const _: () = built_matches::<Read<f32, 2>, Bound<Read<f32, 2>>>();
