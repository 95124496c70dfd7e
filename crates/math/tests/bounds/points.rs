//! Operands at which functions are measured.

use crate::reference::Format;

/// A repeatable generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Of any size from 2^low to 2^high, of any sign.
    fn sized(&mut self, low: f64, high: f64) -> f64 {
        let size = self.within(low, high).exp2() * self.within(1.0, 1.000001);
        if self.next() & 1 == 0 { size } else { -size }
    }

    /// An operand: of any size, moderate, near 1 in size, or of the size of exponents.
    pub fn operand<T: Format>(&mut self) -> f64 {
        let (low, high) = (T::LEAST.log2(), T::MOST.log2());
        match self.next() % 5 {
            0 => self.sized(low, high),
            1 => self.sized(-20.0, 20.0),
            2 => self.within(-1.2, 1.2),
            3 => self.within(-4.0, 4.0),
            _ if self.next() & 1 == 0 => self.within(-1.0, 1.0) * high * 0.72,
            _ => {
                let size = 1.0 + self.sized(-40.0, -1.0);
                if self.next() & 1 == 0 { size } else { -size }
            }
        }
    }

    /// A base, and an exponent such that the powers are spread over the range and a bit beyond.
    pub fn powers<T: Format>(&mut self) -> (f64, f64) {
        let (low, high) = (T::LEAST.log2(), T::MOST.log2());
        let base = match self.next() % 3 {
            0 => 1.0 + self.sized(-20.0, -1.0),
            1 => self.within(0.5, 2.0),
            _ => self.sized(low, high).abs(),
        };
        let base: f64 = T::of(base).into();
        let exponent = self.within(1.01 * low, 1.01 * high) * std::f64::consts::LN_2 / base.ln();
        match self.next() % 3 {
            0 => (-base, exponent.round()),
            _ => (base, exponent),
        }
    }
}

/// Operands that are hard, or where something changes.
pub fn hard<T: Format>() -> Vec<f64> {
    let mut points =
        vec![1.0, 0.5, 2.0, 10.0, 100.0, 0.4375, 0.6875, 1.1875, 2.4375, 8.0, 27.0, 1000.0, T::LEAST, T::MOST];
    for n in [1.0, 2.0, 3.0, 1e2, 1e3, 8191.0, 8192.0, 1e5, 1e6, 1048575.0, 1048576.0, 1048577.0, 1e9, 1e15] {
        points.push(n * std::f64::consts::FRAC_PI_2);
        points.push(n * std::f64::consts::LN_2);
    }
    points.push(T::MOST.ln());
    points.push(T::LEAST.ln());
    points.extend([1e7, 1e12, 1e22, 1e30, T::MOST / 2.0]);
    // The worst angles there are: Muller, "Elementary Functions", table 11.1.
    points.extend([16_367_173.0 * 2f64.powi(72), 6_381_956_970_095_103.0 * 2f64.powi(797)]);
    let near: Vec<T> = points.into_iter().flat_map(|x| [T::of(x), T::of(x).above(), T::of(x).below()]).collect();
    let subnormal = [T::of(T::LEAST / 3.0), T::of(T::LEAST).below(), T::of(0.0).above()];
    let values = near.into_iter().chain(subnormal).map(Into::<f64>::into).filter(|x| x.is_finite() && *x > 0.0);
    values.flat_map(|x| [x, -x]).collect()
}
