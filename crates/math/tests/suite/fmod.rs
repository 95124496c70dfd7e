//! `fmod` is exact: it is what the standard library's `%` is.

use wattle_math::fmod;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

macro_rules! tests {
    ($name:ident $t:ident $bits:ident) => {
        #[test]
        fn $name() {
            let mut random = Random(1);
            let special =
                [0.0, 1.0, 3.0, 0.1, $t::MIN_POSITIVE, $t::MAX, $t::INFINITY, $t::NAN, 6.2831855, 1e30, 1e-30];
            let special: Vec<$t> = special.iter().flat_map(|x| [*x, -*x]).collect();
            let pairs = special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y)));
            let pairs: Vec<($t, $t)> = pairs
                .chain((0..300_000).map(|round| {
                    let (x, mut y) = ($t::from_bits(random.next() as $bits), $t::from_bits(random.next() as $bits));
                    if round % 3 == 0 {
                        // Of about the same size, and multiples of each other.
                        y = x / ((random.next() % 4096) as $t + 1.0);
                    }
                    (x, y)
                }))
                .collect();
            let mut differ = 0;
            for (x, y) in pairs {
                if [x, y].iter().any(|x| x.is_subnormal()) {
                    continue;
                }
                let (found, wanted) = (fmod(x, y), x % y);
                if wanted.is_subnormal() {
                    assert!(found.abs() <= $t::MIN_POSITIVE, "{x:e} % {y:e} is {found:e}, not {wanted:e}");
                    continue;
                }
                let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
                assert!(same, "{x:e} % {y:e} is {found:e}, not {wanted:e}");
                differ += usize::from(found != x);
            }
            assert!(differ > 100_000, "{differ}");
        }
    };
}
tests!(single f32 u32);
tests!(double f64 u64);
