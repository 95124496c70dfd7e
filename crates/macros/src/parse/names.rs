//! The methods that kernels know, and those that they know under another name.

use wattle_operations::operations;

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

/// How many arguments a method of numbers has, if it is one.
pub fn math(name: &str) -> Option<usize> {
    match name {
        "clamp" => Some(2),
        "to_bits" => Some(0),
        _ => {
            let known = OPERATIONS.iter().find(|(how, known, _)| *how == "fn" && *known == name);
            known.map(|(_, _, arguments)| arguments.len())
        }
    }
}

pub const SHARED: [&str; 4] = ["shared", "shared_atomic", "shared_at_launch", "shared_atomic_at_launch"];

/// Methods of the standard library that have another name here, or that cannot be.
pub const ELSEWHERE: [(&str, &str); 22] = [
    ("powf", "write `x.pow(y)`"),
    ("powi", "write `x.pow(n as f32)`, or multiply"),
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
    ("tan", "write `x.sin() / x.cos()`"),
    ("log2", "write `x.ln() / 2f32.ln()`, with the constant worked out"),
];
