//! Operands at which mathematical functions are measured, and what the functions are there.

use crate::harness::is_small;
use crate::math::Measured;
use crate::reference::{Format, Reference, Truth};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// A repeatable generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Of any size from 2^low to 2^high, of any sign.
    fn sized(&mut self, low: f64, high: f64) -> f64 {
        let size = self.within(low, high).exp2() * self.within(1.0, 1.000001);
        if self.next() & 1 == 0 { size } else { -size }
    }
}

/// How many random operands a function gets.
fn count() -> usize {
    if is_small() { 50 } else { 1000 }
}

/// The exponents of the least and greatest normal numbers.
fn exponents<T: Format>() -> (f64, f64) {
    (T::LEAST.log2(), T::MOST.log2())
}

/// All functions, each with its operands and what is true there.
pub fn all<T: Format>() -> Vec<Measured<T>> {
    let mut reference = Reference::new();
    let mut all: Vec<Measured<T>> =
        ["sqrt", "rsqrt", "exp", "ln", "sin", "cos", "tanh"].map(|name| unary(name, &mut reference)).into();
    all.push(pow(&mut reference));
    all.extend(["add", "sub", "mul", "div", "fma"].map(|name| arithmetic(name, &reference)));
    all
}

/// Where functions of one operand are what they are by definition (ISO C 2011, F.10).
fn defined(name: &str) -> &'static [(f64, f64)] {
    match name {
        "sqrt" => &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, NAN), (-1.0, NAN), (-1e-30, NAN), (4.0, 2.0)],
        "rsqrt" => &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, NAN), (-1.0, NAN), (-1e-30, NAN), (4.0, 0.5)],
        "exp" => &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1e4, INF), (1e30, INF)],
        "ln" => &[(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (-1.0, NAN), (-1e-30, NAN)],
        "sin" => &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
        "cos" => &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)],
        "tanh" => &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (1e30, 1.0), (-50.0, -1.0)],
        _ => panic!("{name}"),
    }
}

/// Random operands of a function where it has something to compute, and those where it is hard.
fn interesting<T: Format>(name: &str) -> Vec<f64> {
    let (low, high) = exponents::<T>();
    let mut random = Random(1);
    let mut points: Vec<f64> = Vec::new();
    let count = count();
    let mut sized = |low: f64, high: f64, count: usize| (0..count).map(|_| random.sized(low, high)).collect::<Vec<_>>();
    match name {
        "sqrt" | "rsqrt" => points.extend(sized(low, high, count).iter().map(|x| x.abs())),
        "ln" => {
            points.extend(sized(low, high, count / 2).iter().map(|x| x.abs()));
            points.extend(sized(-40.0, -1.0, count / 2).iter().map(|x| 1.0 + x));
        }
        "exp" => {
            // Beyond both ends too.
            let greatest = high.abs() * std::f64::consts::LN_2;
            points.extend(sized(-40.0, 1.0, count / 2));
            points.extend(sized(0.0, greatest.log2() + 0.1, count / 2));
            points.extend([greatest, greatest * (1.0 - 1e-6), greatest * (1.0 + 1e-6), -greatest, 1e3, -1e4, -1e30]);
        }
        "tanh" => {
            points.extend(sized(low, 5.0, count / 2));
            points.extend(sized(-5.0, 5.0, count / 2));
            points.extend([T::MOST, -T::MOST]);
        }
        _ => {
            points.extend(sized(low, 0.0, count / 10));
            points.extend(sized(-3.0, 15.0, count / 3));
            points.extend(sized(13.0, high, count));
            // Where the reduction changes its way, and near multiples of a quarter turn.
            for n in
                [1.0, 2.0, 3.0, 1e2, 1e3, 8191.0, 8192.0, 8193.0, 1e5, 1e6, 1048575.0, 1048576.0, 1048577.0, 1e9, 1e15]
            {
                let x = T::of(n * std::f64::consts::FRAC_PI_2);
                points.extend([x.into(), x.above().into(), -x.into()]);
            }
            points.extend([1e7, 1e12, 1e22, 1e30, T::MOST, -T::MOST, T::MOST / 2.0]);
            // The worst there are: Muller, "Elementary Functions", table 11.1.
            points.extend([16_367_173.0 * 2f64.powi(72), 6_381_956_970_095_103.0 * 2f64.powi(797)]);
        }
    }
    points
}

fn unary<T: Format>(name: &'static str, reference: &mut Reference) -> Measured<T> {
    let mut measured = Measured { name, operands: Vec::new(), truths: Vec::new() };
    let mut put = |x: T, truth: Truth| {
        measured.operands.push([x, T::ONE, T::ONE]);
        measured.truths.push(truth);
    };
    for &(x, value) in defined(name) {
        // Not all of these are numbers of both formats, but all are of their sign, and as far from what they are not.
        put(T::of(x), Truth::Exactly(value));
    }
    put(T::of(NAN), Truth::Exactly(NAN));
    for x in interesting::<T>(name).into_iter().map(T::of).filter(|x| Into::<f64>::into(*x).is_finite()) {
        put(x, reference.unary(name, x.into()));
    }
    // The greatest and least subnormal numbers.
    for x in [T::of(T::LEAST / 3.0), T::of(T::LEAST).below(), T::of(0.0).above()] {
        let zero = defined(name).iter().find(|(zero, _)| zero.to_bits() == 0).map_or(NAN, |(_, value)| *value);
        put(x, reference.unary(name, x.into()).or(zero));
    }
    measured
}

fn pow<T: Format>(reference: &mut Reference) -> Measured<T> {
    let (low, high) = exponents::<T>();
    let mut measured = Measured { name: "pow", operands: Vec::new(), truths: Vec::new() };
    let mut put = |x: T, y: T, truth: Truth| {
        measured.operands.push([x, y, T::ONE]);
        measured.truths.push(truth);
    };
    let odd = 3.0;
    let defined = [
        (0.0, -odd, INF),
        (-0.0, -odd, -INF),
        (0.0, -2.0, INF),
        (-0.0, -2.0, INF),
        (-0.0, -0.5, INF),
        (-0.0, -INF, INF),
        (0.0, odd, 0.0),
        (-0.0, odd, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 0.5, 0.0),
        (0.0, INF, 0.0),
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (1.0, NAN, 1.0),
        (1.0, INF, 1.0),
        (NAN, 0.0, 1.0),
        (NAN, -0.0, 1.0),
        (INF, 0.0, 1.0),
        (0.0, 0.0, 1.0),
        (-7.0, 0.0, 1.0),
        (-2.0, 0.5, NAN),
        (-2.0, -0.5, NAN),
        (0.5, -INF, INF),
        (-0.5, -INF, INF),
        (2.0, -INF, 0.0),
        (-2.0, -INF, 0.0),
        (0.5, INF, 0.0),
        (2.0, INF, INF),
        (-INF, -odd, -0.0),
        (-INF, -2.0, 0.0),
        (-INF, odd, -INF),
        (-INF, 2.0, INF),
        (-INF, 0.5, INF),
        (INF, -1.0, 0.0),
        (INF, 1.0, INF),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (2.0, 10.0, 1024.0),
        (-2.0, odd, -8.0),
        (1e30, 1e30, INF),
        (-1e30, 101.0, -INF),
    ];
    for (x, y, value) in defined {
        put(T::of(x), T::of(y), Truth::Exactly(value));
    }
    let mut random = Random(2);
    for _ in 0..count() {
        // The results are spread over the range, and a bit beyond.
        let x = match random.next() % 3 {
            0 => 1.0 + random.sized(-20.0, -1.0),
            1 => random.within(0.5, 2.0),
            _ => random.sized(low, high).abs(),
        };
        let x = T::of(x);
        let y = T::of(random.within(1.01 * low, 1.01 * high) * std::f64::consts::LN_2 / Into::<f64>::into(x).ln());
        if Into::<f64>::into(x) != 1.0 && Into::<f64>::into(y).is_finite() {
            put(x, y, reference.pow(x.into(), y.into()));
        }
        // Powers of negative numbers.
        let (x, n) = (T::of(random.within(0.9, 3.0)), random.within(-30.0, 30.0).round());
        if n != 0.0 {
            let truth = reference.pow(x.into(), n);
            put(-x, T::of(n), if n % 2.0 == 0.0 { truth } else { truth.negative() });
        }
    }
    measured
}

/// The operations that are rounded correctly.
fn arithmetic<T: Format>(name: &'static str, reference: &Reference) -> Measured<T> {
    let (low, high) = exponents::<T>();
    let mut measured = Measured { name, operands: Vec::new(), truths: Vec::new() };
    let mut put = |operands: [T; 3], truth: Truth| {
        measured.operands.push(operands);
        measured.truths.push(truth);
    };
    let defined: &[([f64; 3], f64)] = match name {
        "add" => {
            &[([-0.0, 0.0, 1.0], 0.0), ([-0.0, -0.0, 1.0], -0.0), ([INF, -INF, 1.0], NAN), ([1.0, -1.0, 1.0], 0.0)]
        }
        "sub" => &[([-0.0, 0.0, 1.0], -0.0), ([0.0, 0.0, 1.0], 0.0), ([INF, INF, 1.0], NAN), ([NAN, 1.0, 1.0], NAN)],
        "mul" => {
            &[([0.0, INF, 1.0], NAN), ([-0.0, 2.0, 1.0], -0.0), ([-0.0, -2.0, 1.0], 0.0), ([-2.0, INF, 1.0], -INF)]
        }
        "div" => &[
            ([0.0, 0.0, 1.0], NAN),
            ([INF, INF, 1.0], NAN),
            ([1.0, 0.0, 1.0], INF),
            ([1.0, -0.0, 1.0], -INF),
            ([-1.0, INF, 1.0], -0.0),
            ([-0.0, 3.0, 1.0], -0.0),
            ([NAN, 1.0, 1.0], NAN),
        ],
        _ => &[
            ([INF, 0.0, 1.0], NAN),
            ([INF, 1.0, -INF], NAN),
            ([0.0, 1.0, -0.0], 0.0),
            ([-0.0, 1.0, -0.0], -0.0),
            ([2.0, 3.0, -6.0], 0.0),
            ([1.0, 1.0, NAN], NAN),
        ],
    };
    // The `fma` that valgrind has instead of the processor's loses the sign of a zero.
    let lost = |value: f64| is_small() && name == "fma" && value.to_bits() == (-0.0f64).to_bits();
    for (operands, value) in defined.iter().filter(|(_, value)| !lost(*value)) {
        put(operands.map(T::of), Truth::Exactly(*value));
    }
    let mut random = Random(3);
    for at in 0..count() {
        let operands = match at % 4 {
            // Anything, which overflows and underflows often.
            0 => [(); 3].map(|()| random.sized(low, high)),
            // Near each other, so that sums cancel.
            1 => {
                let x = random.within(1.0, 2.0);
                [x, x * (1.0 + random.sized(-20.0, -2.0)), -x * x * (1.0 + random.sized(-40.0, -2.0))]
            }
            _ => [(); 3].map(|()| random.sized(-30.0, 30.0)),
        };
        let operands = operands.map(T::of);
        let [x, y, z]: [f64; 3] = operands.map(Into::into);
        if operands.iter().any(|x| Into::<f64>::into(*x).abs() < T::LEAST || Into::<f64>::into(*x).is_infinite()) {
            continue;
        }
        let truth = match name {
            "add" => reference.fma(x, 1.0, y),
            "sub" => reference.fma(y, -1.0, x),
            "mul" => reference.fma(x, y, 0.0),
            "div" => reference.quotient(x, y),
            _ => reference.fma(x, y, z),
        };
        put(operands, truth);
    }
    measured
}

/// Operands of functions that are exact: halves, whole numbers, and any bits but subnormal ones.
pub fn exact<T: Format>() -> Vec<[T; 3]> {
    let mut random = Random(4);
    let mut points: Vec<T> = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 1e30, INF].map(T::of).to_vec();
    points.push(T::of(0.5).below());
    points.extend((0..count()).map(|_| T::any(random.next())));
    points.extend((0..count()).map(|_| T::of((random.sized(0.0, f64::from(T::DIGITS)) * 2.0).round() / 2.0)));
    let size = |x: &T| Into::<f64>::into(*x).abs();
    points.retain(|x| size(x) == 0.0 || size(x) >= T::LEAST);
    points.push(T::of(NAN));
    points.into_iter().flat_map(|x| [[x, T::ONE, T::ZERO], [-x, T::ONE, T::ZERO]]).collect()
}
