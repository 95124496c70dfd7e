//! A number to about 100 bits, and the functions on it: what `f64` results are measured against.

use std::f64::consts;

/// A number to about 100 bits, as a sum of two.
#[derive(Clone, Copy)]
pub struct Wide(pub f64, pub f64);

impl Wide {
    pub fn sum(x: f64, y: f64) -> Wide {
        let sum = x + y;
        let part = sum - x;
        Wide(sum, (x - (sum - part)) + (y - part))
    }
    pub fn product(x: f64, y: f64) -> Wide {
        Wide(x * y, x.mul_add(y, -(x * y)))
    }
    pub fn add(self, other: Wide) -> Wide {
        let (high, low) = (Wide::sum(self.0, other.0), Wide::sum(self.1, other.1));
        let sum = Wide::sum(high.0, high.1 + low.0);
        Wide::sum(sum.0, sum.1 + low.1)
    }
    pub fn mul(self, other: Wide) -> Wide {
        let product = Wide::product(self.0, other.0);
        Wide::sum(product.0, product.1 + (self.0 * other.1 + self.1 * other.0))
    }
    pub fn div(self, other: Wide) -> Wide {
        let (mut left, mut quotient) = (self, Wide(0.0, 0.0));
        for _ in 0..3 {
            let part = Wide(left.0 / other.0, 0.0);
            left = left.add(other.mul(Wide(-part.0, 0.0)));
            quotient = quotient.add(part);
        }
        quotient
    }
    /// The sum of c(k) x^k for k below `count`, by Horner.
    pub fn series(self, count: u32, coefficient: impl Fn(u32) -> Wide) -> Wide {
        (0..count).rev().fold(Wide(0.0, 0.0), |sum, k| sum.mul(self).add(coefficient(k)))
    }
    pub fn inverse_factorial(n: u32) -> Wide {
        (2..=n).fold(Wide(1.0, 0.0), |product, k| product.div(Wide(f64::from(k), 0.0)))
    }
    pub fn scaled(self, exponent: i32) -> Wide {
        let by = |x: f64| x * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        Wide(by(self.0), by(self.1))
    }
}

const LN_2: [f64; 3] = [consts::LN_2, 2.3190468138462996e-17, 5.707708438416212e-34];
pub const HALF_PI: [f64; 4] =
    [consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50];

/// x - n c.
fn reduced(x: Wide, n: f64, c: &[f64]) -> Wide {
    c.iter().fold(x, |rest, &part| rest.add(Wide::product(-n, part)))
}

/// Series with tables, so that many points are quick.
pub struct Reference {
    inverse_factorials: Vec<Wide>,
    inverse_odds: Vec<Wide>,
}

impl Reference {
    pub fn new() -> Reference {
        let odd = |k| Wide(1.0, 0.0).div(Wide(f64::from(2 * k + 1), 0.0));
        Reference {
            inverse_factorials: (0..28).map(Wide::inverse_factorial).collect(),
            inverse_odds: (0..23).map(odd).collect(),
        }
    }
    pub fn exp(&self, x: Wide) -> Wide {
        let n = (x.0 / LN_2[0]).round();
        reduced(x, n, &LN_2).series(28, |k| self.inverse_factorials[k as usize]).scaled(n as i32)
    }
    pub fn ln(&self, x: f64) -> Wide {
        let k = x.log2().round();
        let m = Wide(x, 0.0).scaled(-(k as i32)).0;
        let s = Wide::sum(m, -1.0).div(Wide::sum(m, 1.0));
        let atanh = s.mul(s.mul(s).series(23, |k| self.inverse_odds[k as usize]));
        reduced(Wide(2.0 * atanh.0, 2.0 * atanh.1), -k, &LN_2)
    }
    /// The sine of x and `quarters` quarter turns.
    pub fn sin(&self, x: f64, quarters: i64) -> Wide {
        let n = (x / HALF_PI[0]).round();
        let r = reduced(Wide(x, 0.0), n, &HALF_PI);
        let (quarter, z) = (n as i64 + quarters, r.mul(r));
        let odd = (quarter & 1 == 0) as u32;
        let signed = |k: u32| {
            let Wide(high, low) = self.inverse_factorials[(2 * k + odd) as usize];
            if (k as i64 + (quarter >> 1)) & 1 == 0 { Wide(high, low) } else { Wide(-high, -low) }
        };
        let series = z.series(14, signed);
        if odd == 1 { series.mul(r) } else { series }
    }
    pub fn tanh(&self, x: f64) -> Wide {
        if x.abs() < 1e-6 {
            let cube = Wide::product(x, x).mul(Wide(x, 0.0)).div(Wide(-3.0, 0.0));
            return Wide(x, 0.0).add(cube);
        }
        let power = self.exp(Wide(2.0 * x, 0.0));
        power.add(Wide(-1.0, 0.0)).div(power.add(Wide(1.0, 0.0)))
    }
    pub fn pow(&self, x: f64, y: f64) -> Wide {
        self.exp(self.ln(x).mul(Wide(y, 0.0)))
    }
}
