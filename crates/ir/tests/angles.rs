//! `to_degrees` and `to_radians` are within 1.5 ulp of the product with the real number, of which the reference has about
//! 106 bits.

use wattle_ir::{Float, Scalar};

/// A factor as the sum of two `f64`.
struct Factor {
    high: f64,
    low: f64,
}

/// 180/π and π/180.
const DEGREES: Factor = Factor { high: 57.295_779_513_082_32, low: -1.987_849_567_057_628_3e-15 };
const RADIANS: Factor = Factor { high: 0.017_453_292_519_943_295, low: 2.948_652_270_870_168_7e-19 };

/// How far `found` is from `x` times the factor, in units of `ulp`, the distance of `found` from its neighbour.
fn error(x: f64, factor: &Factor, found: f64, ulp: f64) -> f64 {
    let high = x * factor.high;
    let rest = x.mul_add(factor.high, -high) + x * factor.low;
    ((found - high) - rest).abs() / ulp
}

/// Numbers of all exponents whose products are normal, by their bits, with both signs.
fn numbers<T: Float>() -> impl Iterator<Item = T> {
    let bits = T::TYPE.bits();
    let mut state = 1u64;
    (0..200_000).map(move |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        T::from_raw(state >> (64 - bits))
    })
}

fn check<T: Float>(ulp: impl Fn(T) -> f64) {
    let mut looked_at = 0;
    for x in numbers::<T>() {
        let of = |found: T| f64::cast_from(found);
        for (found, factor) in [(x.to_degrees(), &DEGREES), (x.to_radians(), &RADIANS)] {
            let (size, least) = (of(found).abs(), f64::cast_from(T::MIN_POSITIVE) * 1e20);
            if !(size > least && size < f64::cast_from(T::MAX)) {
                continue;
            }
            let error = error(of(x), factor, of(found), ulp(found));
            assert!(error <= 1.5, "{x}: {found} is off by {error} ulp");
            looked_at += 1;
        }
    }
    assert!(looked_at > 100_000, "{looked_at}");
}

#[test]
fn angles_are_within_their_bound() {
    check::<f32>(|x| f64::from(f32::from_bits(x.abs().to_bits() + 1)) - f64::from(x.abs()));
    check::<f64>(|x| f64::from_bits(x.abs().to_bits() + 1) - x.abs());
}
