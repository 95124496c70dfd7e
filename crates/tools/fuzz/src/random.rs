//! Numbers that a seed repeats, on every machine.

/// A generator of pseudo-random numbers (SplitMix64). The same seed gives the same numbers for ever, since seeds of
/// failing cases are written down.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((self.word() >> 32).wrapping_mul(bound.max(1) as u64) >> 32) as u32
    }

    /// A number in `low..=high`.
    pub(crate) fn within(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Whether one of `of` equally likely things comes up.
    pub(crate) fn one_in(&mut self, of: u32) -> bool {
        self.below(of) == 0
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.one_in(2)
    }

    /// One of several; `all` is not empty.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    /// One of those that there are.
    pub(crate) fn choose<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(self.pick(all)) }
    }
}
