//! The methods that kernels know, and those that they know under another name.

use wattle_operations::{compositions, operations};

macro_rules! rows {
    ($($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {
        &[$($((stringify!($how), stringify!($method), &[$(stringify!($y)),*]),)+)+]
    };
}

/// The operations of the table: how kernels write them, the method, and its arguments.
const OPERATIONS: &[(&str, &str, &[&str])] = operations!(rows);
/// The methods that are built of them.
const COMPOSITIONS: &[(&str, &str, &[&str])] = compositions!(rows);

/// How many arguments a method of numbers has, if it is one.
pub fn math(name: &str) -> Option<usize> {
    match name {
        "clamp" => Some(2),
        "to_bits" | "sin_cos" => Some(0),
        _ => {
            let known = OPERATIONS.iter().chain(COMPOSITIONS).find(|(how, known, _)| *how != "op" && *known == name);
            known.map(|(_, _, arguments)| arguments.len())
        }
    }
}

/// The method of numbers whose name is nearest to this one, if it is near enough to have been meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    let methods = OPERATIONS.iter().chain(COMPOSITIONS).filter(|(how, ..)| *how != "op").map(|(_, known, _)| *known);
    let near = methods.chain(["clamp", "to_bits", "sin_cos"]).map(|known| (distance(name, known), known)).min()?;
    (near.0 <= name.len().div_ceil(3)).then_some(near.1)
}

/// How many letters are to be inserted, left out or replaced to make one name the other (Levenshtein).
fn distance(x: &str, y: &str) -> usize {
    let mut row: Vec<usize> = (0..=y.len()).collect();
    for (at, x) in x.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (at, y) in y.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[y.len()]
}

/// The methods that declare an array in shared memory for plain accesses.
pub const SHARED: [&str; 5] = ["shared", "shared_nd", "shared_3d", "shared_4d", "shared_at_launch"];

/// The methods that declare an array of atomics in shared memory.
pub const SHARED_ATOMIC: [&str; 2] = ["shared_atomic", "shared_atomic_at_launch"];

/// Methods of the standard library that have another name here, or that cannot be.
pub const ELSEWHERE: [(&str, &str); 21] = [
    ("powf", "write `x.pow(y)`"),
    ("mul_add", "write `x.fma(y, z)`"),
    ("wrapping_add", "integers wrap in kernels: write `x + y`"),
    ("wrapping_sub", "integers wrap in kernels: write `x - y`"),
    ("wrapping_mul", "integers wrap in kernels: write `x * y`"),
    ("iter", "index it in a loop: `for i in 0..N { x[i] }`"),
    ("iter_mut", "write `for (i, x) in acc.items(&mut out)`, or index it in a loop"),
    ("into_iter", "index it in a loop: `for i in 0..N { x[i] }`"),
    ("get", "write `x[i]`: every index is checked, and one that is out of bounds gives 0 and a fault"),
    ("get_unchecked", "write `x[i]`: every index is checked"),
    ("unwrap", "there is no `Option` or `Result` in kernels"),
    ("clone", "values in kernels are copied: write the name alone"),
    ("swap", "write `x.exchange(i, value)` on `Atomic` memory"),
    ("compare_and_swap", "write `x.compare_exchange(i, expected, desired)`, which gives the old value"),
    ("compare_exchange_weak", "write `x.compare_exchange(i, expected, desired)`, which gives the old value"),
    ("for_each", "write a `for` loop"),
    ("map", "write a `for` loop"),
    ("sum", "add up in a `for` loop"),
    ("into", "write a conversion: `x as f32`"),
    ("log", "write `x.ln() / y.ln()`, `x.log2()` or `x.log10()`"),
    ("div_ceil", "write `(x + y - 1) / y`"),
];
