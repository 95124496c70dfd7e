//! Every function is within its bound, and what it is by definition where it is defined so.
//!
//! The greatest errors are printed: `cargo test -p wattle-math --test bounds -- --nocapture`. `WATTLE_MATH_SAMPLES`
//! says how many operands each function gets.

mod angles;
mod points;
mod reference;

use points::Random;
use reference::{Format, Reference, Truth};
use wattle_math as math;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const PI: f64 = std::f64::consts::PI;

/// A function of one or two operands.
struct Function {
    name: &'static str,
    /// In ulp.
    bound: f64,
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
    /// For which operands it is not NaN.
    domain: fn(f64, f64) -> bool,
    operands: Operands,
    /// What it is for some operands (ISO C 2011, F.10). Those that stand here as `f64` are rounded to the format.
    defined: &'static [(f64, f64, f64)],
}

#[derive(Clone, Copy, PartialEq)]
enum Operands {
    One,
    Two,
    Powers,
    WholePowers,
}

macro_rules! functions {
    ($($name:ident($x:ident $(, $y:ident)?) $operands:ident, $bound:literal, $domain:expr, [$($defined:expr),* $(,)?];)+) => {
        const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            bound: $bound,
            single: |$x, _other| functions!(@call $name $x _other $($y)?),
            double: |$x, _other| functions!(@call $name $x _other $($y)?),
            domain: $domain,
            operands: Operands::$operands,
            defined: &[$($defined),*],
        }),+];
    };
    (@call powi $x:ident $second:ident $y:ident) => { math::powi($x, $second as i32) };
    (@call $name:ident $x:ident $second:ident) => { math::$name($x) };
    (@call $name:ident $x:ident $second:ident $y:ident) => { math::$name($x, $second) };
}

functions! {
    exp(x) One, 1.5, |_, _| true,
        [(0.0, 0.0, 1.0), (-0.0, 0.0, 1.0), (INF, 0.0, INF), (-INF, 0.0, 0.0), (1e4, 0.0, INF), (-1e30, 0.0, 0.0)];
    exp2(x) One, 1.5, |_, _| true,
        [(0.0, 0.0, 1.0), (-0.0, 0.0, 1.0), (INF, 0.0, INF), (-INF, 0.0, 0.0), (10.0, 0.0, 1024.0), (-3.0, 0.0, 0.125)];
    exp_m1(x) One, 1.5, |_, _| true,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, INF), (-INF, 0.0, -1.0), (-1e30, 0.0, -1.0)];
    ln(x) One, 1.5, |x, _| x > 0.0,
        [(1.0, 0.0, 0.0), (0.0, 0.0, -INF), (-0.0, 0.0, -INF), (INF, 0.0, INF), (-INF, 0.0, NAN), (-1e-30, 0.0, NAN)];
    log2(x) One, 1.5, |x, _| x > 0.0,
        [(1.0, 0.0, 0.0), (0.0, 0.0, -INF), (-0.0, 0.0, -INF), (INF, 0.0, INF), (-1.0, 0.0, NAN), (1024.0, 0.0, 10.0),
         (0.125, 0.0, -3.0)];
    log10(x) One, 1.5, |x, _| x > 0.0,
        [(1.0, 0.0, 0.0), (0.0, 0.0, -INF), (-0.0, 0.0, -INF), (INF, 0.0, INF), (-1.0, 0.0, NAN)];
    ln_1p(x) One, 1.5, |x, _| x > -1.0,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (-1.0, 0.0, -INF), (INF, 0.0, INF), (-INF, 0.0, NAN), (-1.5, 0.0, NAN)];
    sin(x) One, 1.5, |_, _| true, [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, NAN), (-INF, 0.0, NAN)];
    cos(x) One, 1.5, |_, _| true, [(0.0, 0.0, 1.0), (-0.0, 0.0, 1.0), (INF, 0.0, NAN), (-INF, 0.0, NAN)];
    tan(x) One, 3.0, |_, _| true, [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, NAN), (-INF, 0.0, NAN)];
    asin(x) One, 1.5, |x, _| x.abs() <= 1.0,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (1.0, 0.0, PI / 2.0), (-1.0, 0.0, -PI / 2.0), (1.5, 0.0, NAN), (-INF, 0.0, NAN)];
    acos(x) One, 1.5, |x, _| x.abs() < 1.0,
        [(1.0, 0.0, 0.0), (-1.0, 0.0, PI), (0.0, 0.0, PI / 2.0), (-0.0, 0.0, PI / 2.0), (1.5, 0.0, NAN), (INF, 0.0, NAN)];
    atan(x) One, 1.5, |_, _| true,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, PI / 2.0), (-INF, 0.0, -PI / 2.0)];
    sinh(x) One, 3.0, |_, _| true, [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, INF), (-INF, 0.0, -INF)];
    cosh(x) One, 2.0, |_, _| true, [(0.0, 0.0, 1.0), (-0.0, 0.0, 1.0), (INF, 0.0, INF), (-INF, 0.0, INF)];
    tanh(x) One, 3.0, |_, _| true,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, 1.0), (-INF, 0.0, -1.0), (1e30, 0.0, 1.0), (-50.0, 0.0, -1.0)];
    asinh(x) One, 3.0, |_, _| true, [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, INF), (-INF, 0.0, -INF)];
    acosh(x) One, 3.0, |x, _| x > 1.0, [(1.0, 0.0, 0.0), (INF, 0.0, INF), (0.5, 0.0, NAN), (-INF, 0.0, NAN), (-5.0, 0.0, NAN)];
    atanh(x) One, 3.0, |x, _| x.abs() < 1.0,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (1.0, 0.0, INF), (-1.0, 0.0, -INF), (1.5, 0.0, NAN), (-INF, 0.0, NAN)];
    cbrt(x) One, 1.0, |_, _| true,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (INF, 0.0, INF), (-INF, 0.0, -INF), (27.0, 0.0, 3.0), (-8.0, 0.0, -2.0)];
    rsqrt(x) One, 1.5, |x, _| x > 0.0,
        [(0.0, 0.0, INF), (-0.0, 0.0, -INF), (INF, 0.0, 0.0), (-INF, 0.0, NAN), (-1e-30, 0.0, NAN), (4.0, 0.0, 0.5)];
    atan2(y, x) Two, 2.0, |_, _| true,
        [(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, PI), (-0.0, -0.0, -PI), (0.0, -3.0, PI), (-0.0, 3.0, -0.0),
         (1.0, 0.0, PI / 2.0), (-1.0, -0.0, -PI / 2.0), (INF, 1.0, PI / 2.0), (-INF, -1e30, -PI / 2.0), (1.0, INF, 0.0),
         (1.0, -INF, PI), (-1.0, -INF, -PI), (INF, INF, PI / 4.0), (-INF, INF, -PI / 4.0), (INF, -INF, 3.0 * PI / 4.0),
         (NAN, 1.0, NAN), (1.0, NAN, NAN)];
    hypot(x, y) Two, 1.5, |_, _| true,
        [(0.0, 0.0, 0.0), (-0.0, -0.0, 0.0), (3.0, 4.0, 5.0), (INF, NAN, INF), (NAN, -INF, INF), (1.0, NAN, NAN), (NAN, 0.0, NAN),
         (1e30, 0.0, 1e30), (-0.0, -2.0, 2.0)];
    pow(x, y) Powers, 1.5, |x, y| x > 0.0 || y.fract() == 0.0,
        [(0.0, -3.0, INF), (-0.0, -3.0, -INF), (0.0, -2.0, INF), (-0.0, -2.0, INF), (-0.0, -0.5, INF), (-0.0, -INF, INF),
         (0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0), (0.0, INF, 0.0), (-1.0, INF, 1.0),
         (-1.0, -INF, 1.0), (1.0, NAN, 1.0), (1.0, INF, 1.0), (NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (INF, 0.0, 1.0), (0.0, 0.0, 1.0),
         (-7.0, 0.0, 1.0), (-2.0, 0.5, NAN), (-2.0, -0.5, NAN), (0.5, -INF, INF), (-0.5, -INF, INF), (2.0, -INF, 0.0),
         (-2.0, -INF, 0.0), (0.5, INF, 0.0), (2.0, INF, INF), (-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, 3.0, -INF),
         (-INF, 2.0, INF), (-INF, 0.5, INF), (INF, -1.0, 0.0), (INF, 1.0, INF), (NAN, 1.0, NAN), (2.0, NAN, NAN),
         (2.0, 10.0, 1024.0), (-2.0, 3.0, -8.0), (1e30, 1e30, INF), (-1e30, 101.0, -INF)];
    powi(x, n) WholePowers, 1.5, |_, _| true,
        [(0.0, -3.0, INF), (-0.0, -3.0, -INF), (-0.0, -2.0, INF), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (NAN, 0.0, 1.0), (INF, 0.0, 1.0),
         (0.0, 0.0, 1.0), (-7.0, 0.0, 1.0), (-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, 3.0, -INF), (INF, -1.0, 0.0), (NAN, 1.0, NAN),
         (2.0, 10.0, 1024.0), (-2.0, 3.0, -8.0), (3.0, 2.0, 9.0), (-1e30, 101.0, -INF), (1.0, 2147483647.0, 1.0),
         (-1.0, 2147483647.0, -1.0), (-1.0, -2147483648.0, 1.0), (2.0, -2147483648.0, 0.0)];
}

/// How many random operands a function gets.
fn samples(otherwise: usize) -> usize {
    std::env::var("WATTLE_MATH_SAMPLES").ok().map_or(otherwise, |count| count.parse().expect("a number"))
}

impl Function {
    /// Random operands, as numbers of the format.
    fn random<T: Format>(&self, random: &mut Random) -> (f64, f64) {
        let (x, y) = match self.operands {
            Operands::One => (random.operand::<T>(), 1.0),
            Operands::Two if random.next() & 1 == 0 => (random.operand::<T>(), random.operand::<T>()),
            Operands::Two => (random.within(-2.0, 2.0), random.within(-2.0, 2.0)),
            Operands::Powers => random.powers::<T>(),
            Operands::WholePowers => {
                let (x, y) = random.powers::<T>();
                (x, y.round().clamp(-2147483648.0, 2147483647.0))
            }
        };
        // Not all exponents are numbers of both formats; those of `powi` are integers.
        let y = if self.operands == Operands::WholePowers { y } else { T::of(y).into() };
        (T::of(x).into(), y)
    }
}

/// The functions of one format.
trait Apply: Format {
    fn apply(function: &Function, x: f64, y: f64) -> Self;
}

impl Apply for f32 {
    fn apply(function: &Function, x: f64, y: f64) -> f32 {
        match function.operands {
            // Not through an `f32`, which has no room for each integer.
            Operands::WholePowers => math::powi(x as f32, y as i32),
            Operands::One | Operands::Two | Operands::Powers => (function.single)(x as f32, y as f32),
        }
    }
}

impl Apply for f64 {
    fn apply(function: &Function, x: f64, y: f64) -> f64 {
        (function.double)(x, y)
    }
}

fn defined<T: Apply>() {
    for function in FUNCTIONS {
        for &(x, y, value) in function.defined {
            let (found, value) = (T::apply(function, T::of(x).into(), y), T::of(value));
            let (found, value): (f64, f64) = (found.into(), value.into());
            let same = found.to_bits() == value.to_bits() || (found.is_nan() && value.is_nan());
            assert!(same, "{}({x:?}, {y:?}) of {} is {found:?}, not {value:?}", function.name, T::NAME);
        }
        assert!(Into::<f64>::into(T::apply(function, NAN, 1.0)).is_nan(), "{} of NaN", function.name);
    }
}

#[test]
fn what_is_defined() {
    defined::<f32>();
    defined::<f64>();
}

fn bounds<T: Apply>() {
    let mut reference = Reference::new();
    for function in FUNCTIONS {
        let (mut random, mut worst, mut at) = (Random(1), 0.0, None);
        let hard = points::hard::<T>().into_iter().filter(|_| function.operands == Operands::One).map(|x| (x, 1.0));
        let operands: Vec<(f64, f64)> =
            hard.chain((0..samples(400)).map(|_| function.random::<T>(&mut random))).collect();
        for (x, y) in operands {
            // Zeros and what is not finite are in the tables, and a subnormal operand may count as zero.
            let is_subnormal = x.abs() < T::LEAST && x != 0.0 && function.operands == Operands::One;
            if [x, y].iter().any(|x| !x.is_finite() || x.abs() < T::LEAST) && !is_subnormal {
                continue;
            }
            let found = T::apply(function, x, y);
            if !(function.domain)(x, y) {
                let value: f64 = found.into();
                assert!(
                    value.is_nan() || !value.is_finite() || x.abs() == 1.0,
                    "{}({x:e}, {y:e}) is {found:?}",
                    function.name
                );
                continue;
            }
            let truth = match (function.name, x) {
                ("ln" | "log2" | "log10", 1.0) => Truth::Exactly(0.0),
                _ => reference.truth(function.name, x, y),
            };
            let truth = match is_subnormal {
                true => truth.or(T::apply(function, if x < 0.0 { -0.0 } else { 0.0 }, y).into()),
                false => truth,
            };
            let error = truth.error(found, function.bound);
            let error = error.unwrap_or_else(|what| panic!("{}({x:e}, {y:e}) of {} is {what}", function.name, T::NAME));
            if error > worst {
                (worst, at) = (error, Some((x, y, found)));
            }
        }
        println!("{} of {}: {worst:.3} ulp at {at:?}", function.name, T::NAME);
        assert!(worst <= function.bound, "{} of {} is {worst} ulp wrong at {at:?}", function.name, T::NAME);
    }
}

#[test]
fn functions_of_f64_are_within_their_bounds() {
    bounds::<f64>();
}

#[test]
fn functions_of_f32_are_within_their_bounds() {
    bounds::<f32>();
}

/// What an `f64` function gives, whose error is far below an ulp of `f32`, is as good as the truth for an `f32`.
#[test]
fn functions_of_f32_are_within_their_bounds_everywhere() {
    for function in FUNCTIONS {
        let (mut random, mut worst, mut at) = (Random(2), 0.0, None);
        for _ in 0..samples(1_000_000) {
            let (x, y) = function.random::<f32>(&mut random);
            let (found, truth) = (f32::apply(function, x, y), f64::apply(function, x, y));
            if (x.abs() < f32::LEAST || y.abs() < f32::LEAST) && !truth.is_nan() {
                continue;
            }
            let ulp = 2f64.powi((truth.abs().to_bits() >> 52) as i32 - 1023 - 23);
            let error = match truth.abs() {
                size if size.is_nan() => {
                    if found.is_nan() {
                        0.0
                    } else {
                        INF
                    }
                }
                size if size < f32::LEAST => {
                    if f64::from(found.abs()) <= f32::LEAST {
                        0.0
                    } else {
                        INF
                    }
                }
                size if size > f32::MOST => {
                    if found.is_infinite() {
                        0.0
                    } else {
                        (f64::from(found) - truth).abs() / ulp
                    }
                }
                _ if found.is_infinite() => {
                    if (truth.abs() - f32::MOST).abs() <= 2.0 * ulp {
                        0.0
                    } else {
                        INF
                    }
                }
                _ => (f64::from(found) - truth).abs() / ulp,
            };
            if error > worst || error.is_nan() {
                (worst, at) = (error, Some((x, y, found, truth)));
            }
        }
        println!("{} of f32: {worst:.4} ulp at {at:?}", function.name);
        assert!(worst <= function.bound, "{} is {worst} ulp wrong at {at:?}", function.name);
    }
}

fn nearest_to_quarter_turns<T: Apply>(low: i32, high: i32) {
    let near = angles::nearest_to_multiples(T::DIGITS as u32, low, high);
    assert!(near.len() as i32 >= high - low - 30);
    let mut reference = Reference::new();
    let functions = FUNCTIONS.iter().filter(|function| matches!(function.name, "sin" | "cos" | "tan"));
    for (function, x) in functions.flat_map(|function| near.iter().map(move |x| (function, *x))) {
        for x in
            [T::of(x), T::of(x).above(), T::of(x).below()].map(Into::<f64>::into).into_iter().filter(|x| x.is_finite())
        {
            let (found, truth) = (T::apply(function, x, 1.0), reference.truth(function.name, x, 1.0));
            let error = truth.error(found, function.bound);
            assert!(error.as_ref().is_ok_and(|error| *error <= function.bound), "{}({x:e}): {error:?}", function.name);
        }
    }
}

#[test]
fn angles_nearest_to_quarter_turns() {
    nearest_to_quarter_turns::<f32>(1, 128);
    nearest_to_quarter_turns::<f64>(1, 1024);
}

/// The page of `#[kernel]`, the table of operations and the functions' own pages state the bounds that are tested here.
#[test]
fn the_pages_state_the_bounds() {
    let page = include_str!("../../../macros/src/kernel.md");
    let operations = include_str!("../../../operations/src/expressions.rs");
    for Function { name, bound, .. } in FUNCTIONS {
        let row = page.lines().find(|line| line.starts_with("| `") && line.contains(&format!(".{name}(")));
        assert!(row.is_some_and(|row| row.ends_with(&format!("| {bound} ulp |"))), "{name}: {row:?}");
        // A method has the standard library's name where an integer's has it too.
        let method = if *name == "pow" { "powf" } else { name };
        let above = operations.split_once(&format!("\" {method}(")).expect("a row").0;
        let documentation = &above[above.rfind(" }\n").map_or(0, |at| at)..];
        assert!(documentation.contains(&format!("within {bound} ulp")), "{name}: {documentation}");
    }
}
