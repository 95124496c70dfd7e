//! Random numbers that are the same each time.

/// A repeatable generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    /// A range within `0..end` that is not empty.
    pub fn range(&mut self, end: usize) -> (usize, usize) {
        let begin = self.below(end);
        (begin, begin + 1 + self.below(end - begin))
    }

    /// A number from `low` to `high`.
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// A number of any size from 2^low to 2^high and of any sign.
    pub fn sized(&mut self, low: f64, high: f64) -> f64 {
        let size = self.within(low, high).exp2() * self.within(1.0, 1.000001);
        if self.next() & 1 == 0 { size } else { -size }
    }
}
