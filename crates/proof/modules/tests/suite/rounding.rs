//! Roundings of floats: against the machine's own for the nearest, and against the order of the format's numbers for the
//! others, on operands whose exact result a double holds.

use wattle_modules::code::{Rounded, Rounding};
use wattle_modules::meaning::exact::{Exact, Which, apply, round};
use wattle_modules::types::{Sort, Type};

const SINGLE: Type = Type { sort: Sort::Float, bits: 32 };
const DOUBLE: Type = Type { sort: Sort::Float, bits: 64 };
const HALF: Type = Type { sort: Sort::Float, bits: 16 };

fn how(which: Which, ty: Type, rounding: Rounding) -> Rounded {
    Rounded { which, ty, rounding, flush: false, saturate: false }
}

/// Random bits, of which many are of numbers near each other, near the ends of the range, or special.
fn numbers(bits: u32) -> Vec<u64> {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mask, fraction) = (u64::MAX >> (64 - bits), if bits == 32 { 23 } else { 52 });
    let infinity = (mask >> 1) & !((1 << fraction) - 1);
    let edges = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity, infinity + 1];
    let one = infinity >> 1 & !((1 << (fraction - 1)) - 1) & infinity;
    let near = [one, one + 1, one - 1, one + (1 << (fraction - 1)), one | 3];
    let signed = edges.into_iter().chain(near).flat_map(|value| [value, value | (mask ^ mask >> 1)]);
    let mut all: Vec<u64> = signed.collect();
    all.extend((0..40).map(|_| next() & mask));
    all.extend((0..20).map(|_| one.wrapping_add(next() % (8 << fraction)).wrapping_sub(4 << fraction) & mask));
    all
}

/// What the machine rounds to the nearest is what the exact result rounds to.
#[test]
fn the_nearest_is_the_machines() {
    let same = |found: u64, expected: u64, ty: Type| {
        let is_nan = |bits: u64| {
            if ty.bits == 32 { f32::from_bits(bits as u32).is_nan() } else { f64::from_bits(bits).is_nan() }
        };
        found == expected || is_nan(found) && is_nan(expected)
    };
    for ty in [SINGLE, DOUBLE] {
        let all = numbers(ty.bits);
        for (at, &a) in all.iter().enumerate() {
            for (other, &b) in all.iter().enumerate() {
                let c = all[(at * 31 + other * 17) % all.len()];
                for which in [Which::Add, Which::Sub, Which::Mul, Which::Div, Which::Fma, Which::Sqrt, Which::Rcp] {
                    let expected = if ty == SINGLE {
                        let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
                        u64::from(
                            match which {
                                Which::Add => a + b,
                                Which::Sub => a - b,
                                Which::Mul => a * b,
                                Which::Div => a / b,
                                Which::Fma => a.mul_add(b, c),
                                Which::Sqrt => a.sqrt(),
                                Which::Rcp => 1.0 / a,
                            }
                            .to_bits(),
                        )
                    } else {
                        let [a, b, c] = [a, b, c].map(f64::from_bits);
                        match which {
                            Which::Add => a + b,
                            Which::Sub => a - b,
                            Which::Mul => a * b,
                            Which::Div => a / b,
                            Which::Fma => a.mul_add(b, c),
                            Which::Sqrt => a.sqrt(),
                            Which::Rcp => 1.0 / a,
                        }
                        .to_bits()
                    };
                    let found = apply(how(which, ty, Rounding::Nearest), a, b, c);
                    assert!(
                        same(found, expected, ty),
                        "{which:?} {ty} of {a:#x}, {b:#x}, {c:#x}: {found:#x} for {expected:#x}"
                    );
                }
            }
        }
    }
}

/// The directed roundings of a finite result that is not exact are the two numbers around the nearest one's neighbours:
/// downwards is never above upwards, they are neighbours, the nearest is one of the two, and the exact result, a double, is
/// between them.
#[test]
fn directed_roundings_enclose_the_result() {
    for &a in &numbers(32) {
        for &b in &numbers(32) {
            let [x, y] = [a, b].map(|bits| f64::from(f32::from_bits(bits as u32)));
            // A double holds a product of two singles exactly, if it is not too small.
            let exact = x * y;
            if !exact.is_finite() || exact.abs() > f64::from(f32::MAX) || exact == 0.0 {
                continue;
            }
            let of = |rounding| f64::from(f32::from_bits(apply(how(Which::Mul, SINGLE, rounding), a, b, 0) as u32));
            let (down, up) = (of(Rounding::Down), of(Rounding::Up));
            assert!(down <= exact && exact <= up, "{down:e} {exact:e} {up:e}");
            assert_eq!(down == up, f64::from(exact as f32) == exact, "{exact:e}");
            assert!(down == up || (down as f32).next_up() == up as f32, "{down:e} {up:e} are neighbours");
            assert_eq!(of(Rounding::Zero), if exact > 0.0 { down } else { up });
            assert_eq!(of(Rounding::Nearest), f64::from(exact as f32));
        }
    }
}

#[test]
fn sums_that_are_not_exact_lie_between_their_roundings() {
    let of = |rounding, a: f64, b: f64| {
        f64::from_bits(apply(how(Which::Add, DOUBLE, rounding), a.to_bits(), b.to_bits(), 0))
    };
    let tiny = f64::from_bits(1);
    for (a, b, down, up) in [
        (1.0, tiny, 1.0, 1.0f64.next_up()),
        (1.0, -tiny, 1.0f64.next_down(), 1.0),
        (-1.0, tiny, -1.0, (-1.0f64).next_up()),
        (1e300, -1e-300, 1e300f64.next_down(), 1e300),
        (f64::MAX, 1.0, f64::MAX, f64::INFINITY),
        (-f64::MAX, -1.0, f64::NEG_INFINITY, -f64::MAX),
    ] {
        assert_eq!((of(Rounding::Down, a, b), of(Rounding::Up, a, b)), (down, up), "{a:e} + {b:e}");
        assert_eq!(of(Rounding::Zero, a, b), if a > 0.0 { down } else { up }, "{a:e} + {b:e}");
    }
    // IEEE 754, 6.3: a difference of equal numbers is -0 downwards, and else +0.
    for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Up, Rounding::Down] {
        assert_eq!(of(rounding, 1.5, -1.5).is_sign_negative(), rounding == Rounding::Down);
        assert!(of(rounding, -0.0, -0.0).is_sign_negative());
    }
}

#[test]
fn quotients_and_roots_round_by_their_rests() {
    let of = |which, rounding, a: f32, b: f32| {
        f32::from_bits(apply(how(which, SINGLE, rounding), a.to_bits().into(), b.to_bits().into(), 0) as u32)
    };
    for (a, b) in [(1.0f32, 3.0f32), (2.0, 3.0), (-1.0, 3.0), (10.0, 7.0), (1.0, 1e30), (3.0, 1.5)] {
        let (down, up) = (of(Which::Div, Rounding::Down, a, b), of(Which::Div, Rounding::Up, a, b));
        let side = |quotient: f32| f64::from(quotient) * f64::from(b) - f64::from(a);
        assert!(side(down) <= 0.0 && side(up) >= 0.0, "{a} / {b}: {down} {up}");
        assert!(down == up || down.next_up() == up, "{a} / {b}");
    }
    for a in [2.0f32, 3.0, 4.0, 1e-30, 7e20] {
        let (down, up) = (of(Which::Sqrt, Rounding::Down, a, 0.0), of(Which::Sqrt, Rounding::Up, a, 0.0));
        let square = |root: f32| f64::from(root) * f64::from(root);
        assert!(square(down) <= f64::from(a) && f64::from(a) <= square(up), "{a}");
        assert!(down == up || down.next_up() == up, "{a}");
    }
}

#[test]
fn conversions_round_as_they_say() {
    let single = |value: i128, rounding| f32::from_bits(Exact::integer(value).rounded(SINGLE, rounding) as u32);
    // 2^24 + 1 lies between two singles.
    for (rounding, value) in
        [(Rounding::Zero, 16_777_216.0), (Rounding::Up, 16_777_218.0), (Rounding::Nearest, 16_777_216.0)]
    {
        assert_eq!(single(16_777_217, rounding), value);
        assert_eq!(single(-16_777_217, rounding), if rounding == Rounding::Up { -16_777_216.0 } else { -value });
    }
    assert_eq!(single(i128::from(u64::MAX), Rounding::Nearest), u64::MAX as f32);
    let half = |value: f64, rounding| round(value, HALF, rounding);
    for (value, rounding, bits) in [
        (2049.0, Rounding::Nearest, 0x6800),
        (2049.0, Rounding::Up, 0x6801),
        (-2049.0, Rounding::Down, 0xE801),
        (1e9, Rounding::Zero, 0x7BFF),
        (1e9, Rounding::Up, 0x7C00),
        (1e-9, Rounding::Up, 0x0001),
        (-1e-9, Rounding::Up, 0x8000),
    ] {
        assert_eq!(half(value, rounding), bits, "{value} {rounding:?}");
    }
}
