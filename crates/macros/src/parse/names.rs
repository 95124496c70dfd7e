//! The methods that kernels know, and those that they know under another name.

/// Methods that are mathematical functions, with the number of their arguments.
pub const MATH: [(&str, usize); 21] = [
    ("abs", 0),
    ("min", 1),
    ("max", 1),
    ("clamp", 2),
    ("sqrt", 0),
    ("rsqrt", 0),
    ("exp", 0),
    ("ln", 0),
    ("sin", 0),
    ("cos", 0),
    ("tanh", 0),
    ("pow", 1),
    ("fma", 2),
    ("floor", 0),
    ("ceil", 0),
    ("round", 0),
    ("is_nan", 0),
    ("count_ones", 0),
    ("leading_zeros", 0),
    ("trailing_zeros", 0),
    ("to_bits", 0),
];

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
