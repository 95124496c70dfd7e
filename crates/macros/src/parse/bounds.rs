//! The bounds on type parameters, by the names of the traits.

use syn::TypeParamBound;

/// The traits whose types are numbers, or truth values.
const NUMBERS: [&str; 8] = ["Scalar", "Number", "Signed", "Int", "Word", "Float", "AtomicScalar", "AtomicFloat"];

/// The other traits, of the library and of `std`, that type parameters of kernels may be bounded by.
const OTHERS: [&str; 14] = [
    "Element",
    "KernelType",
    "KernelValue",
    "DeviceFn",
    "Copy",
    "Clone",
    "Send",
    "Sync",
    "Sized",
    "Default",
    "Debug",
    "Display",
    "PartialEq",
    "PartialOrd",
];

fn is_named(bound: &TypeParamBound, names: &[&str]) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
        }
        _ => false,
    }
}

/// Whether the types are numbers.
pub fn is_bound_of_numbers(bound: &TypeParamBound) -> bool {
    is_named(bound, &NUMBERS)
}

/// Whether the trait is none of the user's.
pub fn is_bound_of_library(bound: &TypeParamBound) -> bool {
    is_named(bound, &NUMBERS) || is_named(bound, &OTHERS) || matches!(bound, TypeParamBound::Lifetime(_))
}

/// Whether the types are elements of memory.
pub fn is_bound_of_elements(bound: &TypeParamBound) -> bool {
    is_named(bound, &["Element"])
}
