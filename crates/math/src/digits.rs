//! The digits of 2/π, as far as the product with the greatest `f64` needs them.

/// The digits of 4/π: the highest bit is worth 1.
#[rustfmt::skip]
const FOUR_BY_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041, 0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0, 0x0649_2eea_09d1_921c, 0xfe1d_eb1c_b129_a73e, 0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41, 0x3991_d639_8353_39f4, 0x9c84_5f8b_bdf9_283b, 0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f, 0x6d36_7ecf_27cb_09b7, 0x4f46_3f66_9e5f_ea2d, 0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea, 0x6bfb_5fb1_1f8d_5d08, 0x5603_3046_fc7b_6bab, 0xf0cf_bc20_9af4_361d,
];

/// Words of `width` bits of 2/π, such that the first one makes two quarters with 2^`least` and its fraction, which has
/// `precision` bits: `zeros` bits are above the binary point.
const fn words<const N: usize>(width: u32, zeros: u32) -> [u64; N] {
    let mut words = [0; N];
    let mut position = zeros;
    while position < N as u32 * width {
        let digit = position - zeros;
        if digit < 64 * FOUR_BY_PI.len() as u32 {
            let bit = FOUR_BY_PI[digit as usize / 64] >> (63 - digit % 64) & 1;
            words[(position / width) as usize] |= bit << (width - 1 - position % width);
        }
        position += 1;
    }
    words
}

/// The words for `f32`, from 2^[`LEAST_SINGLE`] on.
pub(crate) static SINGLE: [u64; 8] = words(32, 23 + 2 + 1);
/// The exponent of the least argument.
pub(crate) const LEAST_SINGLE: i32 = -1;

/// The words for `f64`, from 2^[`LEAST_DOUBLE`] on.
pub(crate) static DOUBLE: [u64; 19] = words(64, 52 + 2 - 20);
/// The exponent of the least argument.
pub(crate) const LEAST_DOUBLE: i32 = 20;
