//! The elements of several numbers that views of random kernels have.
//!
//! Buffers have Rust types, so these are structs and arrays of a table: a new one is a new row. Among them are those of
//! 8 and 16 bytes that GPUs load at once, with numbers of one type and of several, and those that they do not.

use wattle::Element as Numbers;
use wattle_ir::{Element, ElementLayout, Kernel, ParamId, ParamKind, Type, native, raw};

/// 8 bytes of two types.
#[derive(Clone, Copy, Numbers)]
#[repr(C)]
pub(crate) struct Pair {
    key: u32,
    weight: f32,
}

/// 16 bytes, an array among them.
#[derive(Clone, Copy, Numbers)]
#[repr(C)]
pub(crate) struct Body {
    position: [f32; 3],
    mass: f32,
}

/// 4 bytes in three numbers.
#[derive(Clone, Copy, Numbers)]
#[repr(C)]
pub(crate) struct Small {
    low: u8,
    high: i8,
    part: native::F16,
}

/// 40 bytes, with structs and arrays within.
#[derive(Clone, Copy, Numbers)]
#[repr(C)]
pub(crate) struct Entry {
    id: u64,
    pairs: [Pair; 2],
    keys: [[u16; 2]; 2],
    size: f64,
}

/// Hands the table to another macro.
macro_rules! elements {
    ($then:ident) => {
        $then! {
            $crate::elements::Pair, $crate::elements::Body, $crate::elements::Small, $crate::elements::Entry,
            [f32; 3], [u32; 4], [u16; 4], [f64; 2], [[i32; 2]; 2], [wattle_ir::native::BF16; 2]
        }
    };
}
pub(crate) use elements;

macro_rules! layouts {
    ($($element:ty),+) => {
        &[$(<$element as Element>::LAYOUT),+]
    };
}

/// The layout of each row.
pub(crate) const LAYOUTS: &[&ElementLayout] = elements!(layouts);

/// The row of the elements of which a view's parameter is the first number, if it is one.
pub(crate) fn row(kernel: &Kernel, first: ParamId) -> Option<usize> {
    kernel.params.get(first.index())?.field.filter(|field| field.first == first)?;
    LAYOUTS.iter().position(|layout| {
        let params = kernel.params.get(first.index()..first.index() + layout.count());
        let next = kernel.params.get(first.index() + layout.count()).and_then(|param| param.field);
        let is_whole = next.is_none_or(|field| field.first != first);
        is_whole
            && params.is_some_and(|params| {
                params.iter().zip(layout.numbers()).all(|(param, number)| {
                    let is_it = matches!(param.kind, ParamKind::View { element, .. } if element == number.ty);
                    let size = layout.size() as u32;
                    let here = |field: wattle_ir::Field| (field.offset, field.size) == (number.offset, size);
                    is_it && param.field.is_some_and(|field| field.first == first && here(field))
                })
            })
    })
}

/// The types of the numbers of the elements of which a view's parameter is the first number; its own type where the
/// elements are numbers.
pub(crate) fn numbers(kernel: &Kernel, first: ParamId, element: Type) -> Vec<Type> {
    match row(kernel, first) {
        Some(row) => LAYOUTS[row].numbers().iter().map(|number| number.ty).collect(),
        None => vec![element],
    }
}

/// The element of these numbers, as raw words.
pub(crate) fn of_words<T: Element>(words: &[u64]) -> T {
    let mut bytes = vec![0; size_of::<T>()];
    for (number, &word) in T::LAYOUT.numbers().iter().zip(words) {
        raw::to_bytes(word, &mut bytes[number.range()]);
    }
    T::LAYOUT.settle(&mut bytes);
    // SAFETY: there are as many bytes as the type has, and settled ones are a value of an element.
    unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast::<T>()) }
}
