//! Division and square root, exact to the last bit though the target's are only near to the true ones.

use wattle_ir::{Expr, Scalar};

use crate::{DIV, Errors, Expanded, ROUGH, ROUGH_FUSED, Random, SQRT, Target, flushed};

/// The y with x · y ≡ 1 modulo 2^128, for an odd x.
fn inverse(x: u128) -> u128 {
    (0..7).fold(x, |y, _| y.wrapping_mul(2u128.wrapping_sub(x.wrapping_mul(y))))
}

/// A number whose square is `x` modulo 2^127, where x is 1 modulo 8.
fn root(x: u128) -> u128 {
    // What is wrong with the square in bit k + 1 is made good by bit k.
    (2..127).fold(1, |r: u128, k| r | (r.wrapping_mul(r) ^ x) >> (k + 1) << k & 1 << k)
}

macro_rules! rounded {
    ($t:ident, $module:ident, $count:expr) => {
        mod $module {
            use super::*;

            const DIGITS: u32 = $t::MANTISSA_DIGITS;
            const TARGETS: [Target; 2] = [ROUGH, ROUGH_FUSED];

            /// The function of a target, as it is and flushing, against the host.
            struct Checked<const N: usize> {
                function: Expr,
                host: fn([$t; N]) -> $t,
                keeping: Expanded,
                flushing: Expanded,
                normal: u64,
            }

            impl<const N: usize> Checked<N> {
                fn new(function: Expr, host: fn([$t; N]) -> $t, target: Target, most: u64) -> Self {
                    let new = |flushes| {
                        let errors = Some(Errors { random: Random(most), most });
                        Expanded { flushes, errors, ..Expanded::new(function, $t::TYPE, target) }
                    };
                    Checked { function, host, keeping: new(false), flushing: new(true), normal: 0 }
                }

                fn check(&mut self, operands: [$t; N]) {
                    self.compare(operands, operands, false);
                }

                fn check_flushing(&mut self, operands: [$t; N]) {
                    self.compare(operands, operands.map(|x| $t::from_raw(flushed($t::TYPE, x.to_raw()))), true);
                }

                fn compare(&mut self, operands: [$t; N], seen: [$t; N], flushes: bool) {
                    let found = if flushes { self.flushing.apply(operands) } else { self.keeping.apply(operands) };
                    let wanted = (self.host)(seen);
                    let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
                    // What was subnormal before it was rounded, or became so after.
                    let least = $t::MIN_POSITIVE;
                    let tiny = wanted.abs() < least || (flushes && wanted.abs() == least);
                    let close = (found - wanted).abs() <= if flushes { least } else { $t::from_bits(1) };
                    let signs = found.is_sign_negative() == wanted.is_sign_negative();
                    let function = self.function;
                    assert!(
                        same || (tiny && close && signs),
                        "{function:?}{operands:?}, flushing {flushes}: {found:e}, not {wanted:e}"
                    );
                    self.normal += wanted.is_normal() as u64;
                }
            }

            fn divisions(target: Target, most: u64) -> Checked<2> {
                Checked::new(DIV, |[x, y]| x / y, target, most)
            }

            fn roots(target: Target, most: u64) -> Checked<1> {
                Checked::new(SQRT, |[x]| x.sqrt(), target, most)
            }

            /// An integer of up to `DIGITS` bits, by 2 to a power.
            fn number(digits: u128, exponent: i32) -> $t {
                let half = exponent / 2;
                digits as u64 as $t * (2 as $t).powi(half) * (2 as $t).powi(exponent - half)
            }

            /// All digits that a float has, the highest one 1.
            fn digits(random: &mut Random) -> u128 {
                let any = (random.next() >> (64 - DIGITS)) as u128 | 1 << (DIGITS - 1);
                match random.next() % 8 {
                    0 => (1 << DIGITS) - 1 - (any & 7),
                    1 => 1 << (DIGITS - 1) | any & 7,
                    // Few digits: exact results.
                    2 | 3 => any >> (random.next() % DIGITS as u64),
                    _ => any,
                }
            }

            fn edges() -> Vec<$t> {
                let (tiny, most, one) = ($t::MIN_POSITIVE, $t::MAX, 1 as $t);
                let edges = [0.0, one, one.next_up(), one.next_down(), 1.5, 2.0, 3.0, 4.0, 0.5, tiny, most];
                let more = [tiny.next_down(), tiny.next_up(), tiny * 2.0, tiny * 3.0, tiny * 4.0, most.next_down()];
                let last = [most / 2.0, most / 4.0, $t::INFINITY, $t::NAN, $t::from_bits(1), $t::from_bits(7)];
                // 2^k, for the steps by which operands are scaled, and around them.
                let powers = (-$t::MAX_EXP..$t::MAX_EXP).flat_map(|k| {
                    let power = number(1, k);
                    [power.next_down(), power, power.next_up()]
                });
                let step = if DIGITS < 32 { 3 } else { 31 };
                let edges = edges.into_iter().chain(more).chain(last).chain(powers.step_by(step));
                edges.flat_map(|x| [x, -x]).collect()
            }

            #[test]
            fn quotients() {
                for target in TARGETS {
                    let mut checked = divisions(target, 3);
                    let mut random = Random(21);
                    for number in 0..$count {
                        // Any bits, and numbers near each other.
                        let [x, y] = [random.next(), random.next()].map($t::from_raw);
                        checked.check([x, y]);
                        checked.check([x, x * random.within(-2.0, 2.0) as $t]);
                        if number % 4 == 0 {
                            checked.check_flushing([x, y]);
                        }
                    }
                    let edges = edges();
                    for &x in &edges {
                        for &y in &edges {
                            checked.check([x, y]);
                            checked.check_flushing([x, y]);
                        }
                    }
                    println!("{} quotients of {}, {target:?}", checked.normal, $t::TYPE);
                    assert!(checked.normal > $count);
                }
            }

            /// a / b = m ± e / b, where m is in the middle between two floats, or is a float, and e is little.
            #[test]
            fn quotients_near_the_middle() {
                for (target, most) in [(ROUGH, 0), (ROUGH, 3), (ROUGH, 200), (ROUGH_FUSED, 3), (ROUGH_FUSED, 200)] {
                    let mut checked = divisions(target, most);
                    let mut random = Random(22);
                    let exponents = |random: &mut Random| {
                        let wide = $t::MAX_EXP as u64 - DIGITS as u64 - 4;
                        [random.next(), random.next()].map(|x| (x % wide) as i32 - wide as i32 / 2)
                    };
                    for _ in 0..$count / 4 {
                        let (b, e) = (digits(&mut random) | 1, random.next() as u128 % 12);
                        let e = if random.next() % 2 == 0 { e.wrapping_neg() } else { e };
                        // m b + e is a multiple of 2^(p + 1), so that a has few enough bits; m has p + 1, if even p.
                        let middle = 1 << (DIGITS + 1);
                        let m = e.wrapping_neg().wrapping_mul(inverse(b)) % middle;
                        let product = m.wrapping_mul(b).wrapping_add(e);
                        if m < middle / 2 || product == 0 {
                            continue;
                        }
                        assert_eq!(product % middle, 0);
                        let a = product / middle;
                        let [up, down] = exponents(&mut random);
                        checked.check([number(a, up), number(b, down)]);
                        checked.check_flushing([number(a, down), -number(b, up)]);
                        // Exact, and next to that.
                        let (x, y) = (digits(&mut random), digits(&mut random));
                        let exact = number(x, up) * number(y, down);
                        for a in [exact, exact.next_up(), exact.next_down()] {
                            checked.check([a, number(y, down)]);
                        }
                    }
                    println!("{} quotients of {} near the middle, {target:?}, {most} ulp", checked.normal, $t::TYPE);
                    assert!(checked.normal > $count / 4);
                }
            }

            #[test]
            fn square_roots() {
                for (target, most) in [(ROUGH, 3), (ROUGH_FUSED, 3), (ROUGH_FUSED, 200)] {
                    let mut checked = roots(target, most);
                    let mut random = Random(23);
                    for _ in 0..$count {
                        checked.check([$t::from_bits(random.next() as _)]);
                        let power = (random.next() % 200) as i32 - 100;
                        let x = digits(&mut random);
                        checked.check([number(x, power)]);
                        let half = x >> (DIGITS / 2) | 1;
                        // Squares, and next to those.
                        for x in [half * half - 1, half * half, half * half + 1] {
                            checked.check([number(x, power)]);
                        }
                        checked.check_flushing([$t::from_bits(random.next() as _)]);
                    }
                    // x 2^s = m² + e, where m is in the middle between two floats, and e is little.
                    for k in 0..$count as u128 / 256 {
                        for s in [DIGITS + 1, DIGITS + 2] {
                            for e in [8 * k + 7, (8 * k + 1).wrapping_neg()] {
                                let r = root(e.wrapping_neg());
                                for m in [r, r.wrapping_neg(), r + (1 << (s - 1)), (1u128 << (s - 1)).wrapping_sub(r)] {
                                    let m = m % (1 << s);
                                    let square = m.wrapping_mul(m).wrapping_add(e);
                                    assert_eq!(square % (1 << s), 0);
                                    let x = square >> s;
                                    if m >> DIGITS == 1 && x >> DIGITS == 0 {
                                        let power = 2 * ((random.next() % 40) as i32 - 20);
                                        checked.check([number(x, power + (s % 2) as i32)]);
                                        checked.check_flushing([number(x, power + (s % 2) as i32)]);
                                    }
                                }
                            }
                        }
                    }
                    for x in edges() {
                        checked.check([x]);
                        checked.check_flushing([x]);
                    }
                    println!("{} roots of {}, {target:?}, {most} ulp", checked.normal, $t::TYPE);
                    assert!(checked.normal > 3 * $count);
                }
            }
        }
    };
}
rounded!(f32, single, 1_000_000);
rounded!(f64, double, 250_000);

/// All mantissas, of an even and an odd exponent.
#[test]
fn all_square_roots_from_1_to_4() {
    let mut sqrt = Expanded::new(SQRT, f32::TYPE, ROUGH_FUSED);
    for x in 1f32.to_bits()..4f32.to_bits() {
        let x = f32::from_bits(x);
        assert_eq!(sqrt.apply([x]), x.sqrt(), "the root of {x:e}");
    }
}
