//! Constants of mathematics, to more digits than a float has.

use super::term::Real;

/// A number from 0 to 2 in binary. The highest bit of the first word is worth 1.
pub(super) struct Digits(&'static [u64]);

/// The natural logarithm of 2.
pub(super) const LN_2: Digits =
    Digits(&[0x58b9_0bfb_e8e7_bcd5, 0xe4f1_d9cc_01f9_7b57, 0xa079_a193_394c_5b16, 0xc506_8bad_c5d5_7d15]);

/// Half of pi.
pub(super) const HALF_PI: Digits =
    Digits(&[0xc90f_daa2_2168_c234, 0xc4c6_628b_80dc_1cd1, 0x2902_4e08_8a67_cc74, 0x020b_bea6_3b13_9b22]);

/// 4 / pi, as far as the product with the greatest `f64` needs it.
pub(super) const FOUR_BY_PI: Digits = Digits(&FOUR_BY_PI_WORDS);

/// The digits of [`FOUR_BY_PI`], which are those of 2 / pi too.
#[rustfmt::skip]
pub(crate) static FOUR_BY_PI_WORDS: [u64; 20] = [
    0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041, 0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0, 0x0649_2eea_09d1_921c, 0xfe1d_eb1c_b129_a73e, 0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41, 0x3991_d639_8353_39f4, 0x9c84_5f8b_bdf9_283b, 0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f, 0x6d36_7ecf_27cb_09b7, 0x4f46_3f66_9e5f_ea2d, 0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea, 0x6bfb_5fb1_1f8d_5d08, 0x5603_3046_fc7b_6bab, 0xf0cf_bc20_9af4_361d,
];

impl Digits {
    /// The bits from `position` (0 is worth 1), `count` of them, at most 64; an integer.
    pub(super) fn word(&self, position: u32, count: u32) -> u64 {
        let bit = |position: u32| {
            let word = self.0.get(position as usize / 64).copied().unwrap_or(0);
            (word >> (63 - position % 64)) & 1
        };
        (position..position + count).fold(0, |word, position| word << 1 | bit(position))
    }

    /// The number as a sum: parts of `width` bits each, `count` in all, the last one as good as `T` can be. A part is
    /// exact in `T`, and so is its product with an integer of `T::PRECISION - width` bits.
    pub(super) fn parts<T: Real>(&self, width: u32, count: u32) -> Vec<f64> {
        let value = |position, bits| self.word(position, bits) as f64 * 2f64.powi(1 - (position + bits) as i32);
        let last = (count.saturating_sub(1)) * width;
        let mut parts: Vec<f64> = (0..last).step_by(width as usize).map(|position| value(position, width)).collect();
        let leading = (last..256).find(|&position| self.word(position, 1) != 0).unwrap_or(last);
        // The conversion rounds; what is beyond 64 bits is below its rounding error.
        parts.push(value(leading, 64));
        parts
    }

    /// The number in a part whose product with any float's exponent is exact, and the rest.
    pub(super) fn head_and_tail<T: Real>(&self) -> (f64, f64) {
        let parts = self.parts::<T>(T::PRECISION - T::EXPONENT, 2);
        (parts[0], parts[1])
    }
}
