//! Mathematical functions: within the bounds that their page states, and exact where nothing else is allowed.
//!
//! The greatest errors are printed: `cargo test -p wattle --test conformance math -- --nocapture`.

use std::sync::LazyLock;

use wattle::prelude::*;

use crate::harness::{Case, Numbers, Outcome, Stop};
use crate::points;
use crate::reference::{Format, Reference, Truth};

pub const CASES: &[Case] = &[
    ("the pages state the bounds", pages),
    ("functions of f32 are within their bounds", bounds::<f32>),
    ("functions of f64 are within their bounds", bounds::<f64>),
    ("whole numbers of f32", whole::<f32>),
    ("whole numbers of f64", whole::<f64>),
    ("the lesser and greater f32", extremes::<f32>),
    ("the lesser and greater f64", extremes::<f64>),
    ("constants of which one is the lesser", constants),
    ("high halves of products of u32", high_halves::<u32>),
    ("high halves of products of u64", high_halves::<u64>),
    ("angles that change, of f32", changing::<f32>),
    ("angles that change, of f64", changing::<f64>),
];

/// What the pages state, in ulp.
const BOUNDS: [(&str, f64); 13] = [
    ("add", 0.5),
    ("sub", 0.5),
    ("mul", 0.5),
    ("div", 0.5),
    ("sqrt", 0.5),
    ("fma", 0.5),
    ("rsqrt", 1.5),
    ("exp", 1.5),
    ("ln", 1.5),
    ("sin", 1.5),
    ("cos", 1.5),
    ("tanh", 3.0),
    ("pow", 1.5),
];

macro_rules! kernels {
    ($($name:ident |$x:ident, $y:ident, $z:ident| $value:expr;)+) => {
        $(#[kernel]
        fn $name<T: Float>(acc: &Acc, xs: Read<T>, ys: Read<T>, zs: Read<T>, out: PerItem<T>) {
            for (i, item) in acc.items(&mut out) {
                let ($x, $y, $z) = (xs[i], ys[i], zs[i]);
                *item = $value;
            }
        })+

        /// The function of this name for each of the operands.
        fn apply<T: Format>(device: &Device, name: &str, operands: &[[T; 3]]) -> Result<Vec<T>, Stop> {
            let column = |at: usize| device.from_slice(&operands.iter().map(|all| all[at]).collect::<Vec<T>>());
            let (x, y, z) = (column(0)?, column(1)?, column(2)?);
            let (queue, mut out) = (device.queue()?, device.alloc::<T>(operands.len())?);
            let spec = FrameSpec::new(16, 32);
            match name {
                $(stringify!($name) => queue.launch(spec, $name(&x, &y, &z, &mut out))?,)+
                _ => panic!("no kernel for {name}"),
            }
            Ok(out.read(&queue)?)
        }
    };
}
kernels! {
    add |x, y, _z| x + y;
    sub |x, y, _z| x - y;
    mul |x, y, _z| x * y;
    div |x, y, _z| x / y;
    fma |x, y, z| x.fma(y, z);
    sqrt |x, _y, _z| x.sqrt();
    rsqrt |x, _y, _z| x.rsqrt();
    exp |x, _y, _z| x.exp();
    ln |x, _y, _z| x.ln();
    sin |x, _y, _z| x.sin();
    cos |x, _y, _z| x.cos();
    tanh |x, _y, _z| x.tanh();
    pow |x, y, _z| x.pow(y);
    floor |x, _y, _z| x.floor();
    ceil |x, _y, _z| x.ceil();
    round |x, _y, _z| x.round();
    abs |x, _y, _z| x.abs();
    neg |x, _y, _z| -x;
    bits |x, _y, _z| T::from_bits(x.to_bits());
    min |x, y, _z| x.min(y);
    max |x, y, _z| x.max(y);
    clamp |x, y, z| x.clamp(y, z);
    is_nan |x, y, z| if x.is_nan() { y } else { z };
    sin_of_sin |x, _y, _z| x.sin().sin();
}

/// A function, and what it is for some operands.
pub struct Measured<T> {
    pub name: &'static str,
    pub operands: Vec<[T; 3]>,
    pub truths: Vec<Truth>,
}

/// What all devices are measured against, computed once.
pub trait Known: Format {
    fn known() -> &'static [Measured<Self>];
}

impl Known for f32 {
    fn known() -> &'static [Measured<f32>] {
        static ALL: LazyLock<Vec<Measured<f32>>> = LazyLock::new(points::all);
        &ALL
    }
}

impl Known for f64 {
    fn known() -> &'static [Measured<f64>] {
        static ALL: LazyLock<Vec<Measured<f64>>> = LazyLock::new(points::all);
        &ALL
    }
}

fn bounds<T: Known>(device: &Device) -> Outcome {
    for Measured { name, operands, truths } in T::known() {
        let bound = BOUNDS.iter().find(|(of, _)| of == name).map_or(0.0, |(_, bound)| *bound);
        let (mut worst, mut at) = (0.0, None);
        for ((found, operands), truth) in apply(device, name, operands)?.into_iter().zip(operands).zip(truths) {
            let error = truth.error(found, bound);
            let error = error.map_err(|what| Stop::Failure(format!("{name} of {operands:?} is {what}")))?;
            if error > worst {
                (worst, at) = (error, Some((operands, found)));
            }
        }
        println!("{name} of {} on {}: {worst:.3} ulp at {at:?}", T::TYPE, device.name());
        // Half an ulp is exact up to the reference's own error.
        if worst > bound + 1e-9 {
            return Err(Stop::Failure(format!("{name} of {} is {worst} ulp wrong at {at:?}", T::TYPE)));
        }
    }
    Ok(())
}

/// The page of `#[kernel]` and that of the trait state the bounds that are tested here.
fn pages(_: &Device) -> Outcome {
    let table: Vec<&str> =
        include_str!("../../../macros/src/lib.rs").lines().filter(|line| line.starts_with("/// | `x")).collect();
    let rows =
        include_str!("../../../operations/src/lib.rs").split_once("macro_rules! operations").expect("the table").1;
    let sign = |name| {
        [("add", "x + y"), ("sub", "x - y"), ("mul", "x * y"), ("div", "x / y")].iter().find(|(of, _)| *of == name)
    };
    for (name, bound) in BOUNDS {
        let call = sign(name).map_or(format!("`x.{name}("), |(_, sign)| format!("`{sign}`"));
        let row = table.iter().find(|row| row.contains(&call)).unwrap_or_else(|| panic!("no row for {call}"));
        assert!(row.ends_with(&format!("| {bound} ulp |")), "{row}");
        if sign(name).is_none() {
            let above = rows.split_once(&format!("\" {name}(x")).expect("a row").0;
            let page = &above[above.rfind(" }\n").map_or(0, |at| at)..];
            assert!(page.contains(&format!("{bound} ulp")), "{name}: {page}");
        }
    }
    Ok(())
}

/// A kernel's name, and what the host has for it.
type Exact<const N: usize> = (&'static str, fn([f64; N]) -> f64);

fn whole<T: Format>(device: &Device) -> Outcome {
    let operands = points::exact::<T>();
    let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    let functions: [Exact<1>; 6] = [
        ("floor", |[x]| x.floor()),
        ("ceil", |[x]| x.ceil()),
        ("round", |[x]| x.round()),
        ("abs", |[x]| x.abs()),
        ("neg", |[x]| -x),
        ("bits", |[x]| x),
    ];
    for (name, host) in functions {
        for (found, [x, ..]) in apply(device, name, &operands)?.into_iter().zip(&operands) {
            let (found, x): (f64, f64) = (found.into(), (*x).into());
            assert!(same(found, host([x])), "{name}({x:e}) is {found:e}, not {:e}", host([x]));
        }
    }
    for (found, [x, y, z]) in apply(device, "is_nan", &operands)?.into_iter().zip(&operands) {
        let (found, x, y, z): (f64, f64, f64, f64) = (found.into(), (*x).into(), (*y).into(), (*z).into());
        assert!(same(found, if x.is_nan() { y } else { z }), "{x:e} is or is not a NaN");
    }
    Ok(())
}

/// The lesser of two numbers by their order, in which -0 is before +0; the other one where one is a NaN.
fn lesser(x: f64, y: f64) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, _) => y,
        (false, true) => x,
        (false, false) => {
            if x.total_cmp(&y).is_lt() {
                x
            } else {
                y
            }
        }
    }
}

fn greater(x: f64, y: f64) -> f64 {
    -lesser(-x, -y)
}

fn extremes<T: Format>(device: &Device) -> Outcome {
    let values = [0.0, 1.0, 1.5, 2.0, f64::INFINITY, f64::NAN, T::LEAST, T::MOST].map(T::of);
    let values: Vec<T> = values.iter().flat_map(|&x| [x, T::of(-x.into())]).collect();
    let pairs = values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y)));
    let operands: Vec<[T; 3]> = pairs.flat_map(|(x, y)| [-1.0, -0.0, 0.0].map(|z| [x, y, T::of(z)])).collect();
    let functions: [Exact<3>; 3] = [
        ("min", |[x, y, _]| lesser(x, y)),
        ("max", |[x, y, _]| greater(x, y)),
        ("clamp", |[x, y, z]| lesser(greater(x, y), z)),
    ];
    for (name, wanted) in functions {
        for (found, all) in apply(device, name, &operands)?.into_iter().zip(&operands) {
            let [x, y, z] = all.map(Into::into);
            let (found, wanted): (f64, f64) = (found.into(), wanted([x, y, z]));
            let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
            assert!(same, "{name} of {x:?}, {y:?}, {z:?} is {found:?}, not {wanted:?}");
        }
    }
    Ok(())
}

#[kernel]
fn high<T: Word>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: PerItem<T>) {
    for (i, item) in acc.items(&mut out) {
        *item = xs[i].mul_hi(ys[i]);
    }
}

/// Every sum of halves with and without its carries.
fn high_halves<T: Word + TryFrom<u128, Error: std::fmt::Debug>>(device: &Device) -> Outcome
where
    u128: From<T>,
{
    let width = 8 * size_of::<T>() as u32;
    let (all, half) = (u128::MAX >> (128 - width), width / 2);
    let mut numbers = Numbers(width.into());
    let edges =
        [0, 1, 2, (1 << half) - 1, 1 << half, (1 << half) + 1, 1 << (width - 1), all - 1, all, (all << half) & all];
    let random = (0..40).map(|_| (0..4).fold(0, |number, _| (number << 16) | numbers.below(1 << 16) as u128) & all);
    let values: Vec<u128> = edges.into_iter().chain(random).collect();
    let pairs: Vec<(u128, u128)> = values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y))).collect();
    let column = |of: fn(&(u128, u128)) -> u128| {
        device.from_slice(&pairs.iter().map(|pair| T::try_from(of(pair)).expect("it fits")).collect::<Vec<T>>())
    };
    let (x, y) = (column(|pair| pair.0)?, column(|pair| pair.1)?);
    let (queue, mut out) = (device.queue()?, device.alloc::<T>(pairs.len())?);
    queue.launch(FrameSpec::new(16, 32), high(&x, &y, &mut out))?;
    for (found, (x, y)) in out.read(&queue)?.into_iter().zip(&pairs) {
        assert_eq!(u128::from(found), (x * y) >> width, "the high half of {x:#x} * {y:#x}");
    }
    Ok(())
}

#[kernel]
fn of_constants(acc: &Acc, out: Shared<u32>) {
    let lesser = (0.0f32).min(-0.0f32);
    let greater = (-0.0f32).max(0.0f32);
    out[0] = lesser.to_bits();
    out[acc.linear_threads_in_grid()] = greater.to_bits();
}

/// Expressions that are known while a kernel is built follow the same rule.
fn constants(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc::<u32>(2)?);
    queue.launch(ThreadSpec::new(1, 1), of_constants(&out))?;
    assert_eq!(out.read(&queue)?, [1 << 31, 0]);
    Ok(())
}

#[kernel]
fn turning<T: Float>(acc: &Acc, xs: Read<T>, by: T, turns: u32, out: Shared<T>) {
    let item = acc.linear_thread_in_grid();
    let mut x = xs[item];
    let mut turn = 0;
    // The sine is asked for in a condition, in an index, and in what is stored; the angle is another one each time.
    while x.sin() < T::ONE + T::ONE && turn < turns {
        let sure = (x.cos() * T::ZERO) as u32;
        out[2 * (item * turns + turn) + sure] = x.sin();
        out[2 * (item * turns + turn) + 1] = x.cos();
        x = x * by;
        turn += 1;
    }
}

fn changing<T: Known>(device: &Device) -> Outcome {
    let (mut reference, turns) = (Reference::new(), 5);
    let starts = [1.25, -0.8, 3e3, -7e7].map(T::of);
    let by = 2f64.powi(9);
    let (queue, xs) = (device.queue()?, device.from_slice(&starts)?);
    let out = device.alloc::<T>(2 * starts.len() * turns as usize)?;
    queue.launch(ThreadSpec::new(4, 1), turning(&xs, T::of(by), turns, &out))?;
    let found = out.read(&queue)?;
    let angles = starts.iter().flat_map(|&x| (0..turns).map(move |turn| x.into() * by.powi(turn as i32)));
    for (angle, found) in angles.zip(found.chunks(2)) {
        for (name, found) in ["sin", "cos"].into_iter().zip(found) {
            let error = reference.unary(name, angle).error(*found, 1.5);
            assert!(error.as_ref().is_ok_and(|error| *error <= 1.5), "{name}({angle}) is {found}: {error:?}");
        }
    }
    // A function of a function: the inner one's error passes on.
    let operands: Vec<[T; 3]> = [0.5, 1e5, 1e10, -3e30].map(|x| [T::of(x); 3]).to_vec();
    for (found, [x, ..]) in apply(device, "sin_of_sin", &operands)?.into_iter().zip(&operands) {
        let error = reference.sin_of_sin((*x).into()).error(found, 4.0);
        assert!(error.as_ref().is_ok_and(|error| *error <= 4.0), "sin(sin({x})) is {found}: {error:?}");
    }
    Ok(())
}
