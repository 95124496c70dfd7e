//! `fma` of a target that has none is rounded once.

use wattle_ir::Scalar;

use crate::{Expanded, FMA, PLAIN, Random};

macro_rules! fma_is_exact {
    ($name:ident, $t:ident, $count:expr) => {
        #[test]
        fn $name() {
            let mut fma = Expanded::new(FMA, $t::TYPE, PLAIN);
            let mut flushing = Expanded { flushes: true, ..Expanded::new(FMA, $t::TYPE, PLAIN) };
            let mut count = 0u32;
            let mut check = |x: $t, y: $t, z: $t| {
                let (found, wanted) = (fma.apply([x, y, z]), x.mul_add(y, z));
                let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
                // A result that was subnormal before it was rounded may have been rounded twice.
                let tiny = wanted.abs() <= $t::MIN_POSITIVE && found.is_sign_negative() == wanted.is_sign_negative();
                let close = (found - wanted).abs() <= $t::from_bits(1) && x != 0.0 && y != 0.0;
                assert!(same || (tiny && close), "fma({x:e}, {y:e}, {z:e}) is {found:e}, not {wanted:e}");
                count += 1;
                if count % 4 == 0 && [x, y, z, wanted].iter().all(|x| x.is_normal()) && wanted.abs() > $t::MIN_POSITIVE
                {
                    let found = flushing.apply([x, y, z]);
                    assert!(found == wanted, "flushing, fma({x:e}, {y:e}, {z:e}) is {found:e}, not {wanted:e}");
                }
            };
            let mut random = Random(11);
            let digits = $t::MANTISSA_DIGITS;
            let greatest = $t::MAX_EXP as i64;
            for _ in 0..$count {
                let bits = random.next();
                // Few digits make ties and exact results.
                let number = |random: &mut Random, exponent: i64| {
                    let kept = if random.next() % 2 == 0 { digits } else { 1 + (random.next() as u32) % digits };
                    let fraction =
                        (random.next() >> (64 - digits) | 1 << (digits - 1)) >> (digits - kept) << (digits - kept);
                    let sign = if random.next() % 2 == 0 { 1.0 } else { -1.0 };
                    let half = exponent as i32 / 2;
                    let least = 1.0 / (1u64 << (digits - 1)) as $t;
                    sign * fraction as $t * least * (2 as $t).powi(half) * (2 as $t).powi(exponent as i32 - half)
                };
                let spread = |random: &mut Random, by: i64| (random.next() % (2 * by as u64 + 1)) as i64 - by;
                let (a, b) = (spread(&mut random, greatest), spread(&mut random, greatest));
                let b = if bits & 1 == 0 { b } else { (b / 8) - a };
                let near = spread(&mut random, 3 * i64::from(digits));
                let (x, y) = (number(&mut random, a), number(&mut random, b));
                let z = match bits >> 1 & 7 {
                    0 => $t::from_raw(random.next()),
                    // Cancellation, to the last bits.
                    1 | 2 => $t::from_bits((-(x * y)).to_bits().wrapping_add_signed(spread(&mut random, 3) as _)),
                    // Next to half an ulp of the product, and the other way around.
                    3 => number(&mut random, a + b - i64::from(digits)),
                    4 => number(&mut random, a + b + i64::from(digits)),
                    _ => number(&mut random, (a + b + near).clamp(-greatest, greatest)),
                };
                check(x, y, z);
            }
            for _ in 0..$count / 8 {
                check($t::from_raw(random.next()), $t::from_raw(random.next()), $t::from_raw(random.next()));
            }
            let tiny = $t::MIN_POSITIVE;
            let edges = [0.0, 1.0, 1.5, tiny, $t::from_bits(1), $t::from_bits(7), $t::MAX, $t::INFINITY, $t::NAN];
            let more = [
                $t::EPSILON,
                1.0 + $t::EPSILON,
                1.0 - $t::EPSILON / 2.0,
                tiny * 3.0,
                $t::MAX / 2.0,
                $t::MAX.sqrt(),
                tiny.sqrt(),
            ];
            let edges: Vec<$t> = edges.into_iter().chain(more).flat_map(|x| [x, -x]).collect();
            for &x in &edges {
                for &y in &edges {
                    edges.iter().for_each(|&z| check(x, y, z));
                }
            }
        }
    };
}
fma_is_exact!(fma_is_rounded_once_in_single_precision, f32, 1_000_000);
fma_is_exact!(fma_is_rounded_once_in_double_precision, f64, 1_000_000);
