//! Constants: the values at which arithmetic goes wrong.

use wattle_ir::{ExprId, Scalar, Type};

use super::Generator;

const F32: [f32; 24] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    3.0,
    -7.0,
    0.1,
    1.5,
    2.5,
    -2.5,
    0.499_999_97,
    1e-20,
    1e20,
    -3.4e38,
    255.5,
    65_535.9,
    8_388_609.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    4_294_967_296.0,
    -0.999_999_94,
    1.844_674_4e19,
];
const F64: [f64; 24] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    3.0,
    -7.0,
    0.1,
    1.5,
    2.5,
    -2.5,
    0.499_999_999_999_999_94,
    1e-200,
    1e200,
    -1.7e308,
    127.5,
    16_777_217.0,
    4_503_599_627_370_497.5,
    2_147_483_647.5,
    -2_147_483_649.0,
    4_294_967_295.5,
    9.223_372_036_854_776e18,
    1.844_674_407_370_955_2e19,
];

impl Generator<'_> {
    /// The raw word of a value: of a float a clean one, which may be infinite or no number.
    pub(super) fn raw_value(&mut self, ty: Type) -> u64 {
        let bits = 8 * ty.size() as u32;
        let mask = u64::MAX >> (64 - bits);
        match ty {
            Type::Bool => self.random.word() & 1,
            Type::F32 => self.float(&F32, f32::INFINITY, f32::NAN, f32::to_raw, |whole| whole as f32),
            Type::F64 => self.float(&F64, f64::INFINITY, f64::NAN, f64::to_raw, |whole| whole as f64),
            Type::U8 | Type::I8 | Type::U16 | Type::I16 | Type::U32 | Type::I32 | Type::U64 | Type::I64 => {
                match self.random.below(8) {
                    0..=2 => self.random.below(10) as u64,
                    3 => mask - self.random.below(4) as u64,
                    4 => (1 << self.random.below(bits)) & mask,
                    5 => ((1u64 << (bits - 1)) - self.random.below(2) as u64) & mask,
                    _ => self.random.word() & mask,
                }
            }
        }
    }

    fn float<T: Scalar>(
        &mut self,
        special: &[T],
        infinity: T,
        nan: T,
        to_raw: fn(T) -> u64,
        whole: fn(i32) -> T,
    ) -> u64 {
        match self.random.below(12) {
            0..=5 => to_raw(self.random.pick(special)),
            6 => to_raw(infinity),
            // The raw word of negative zero.
            7 if self.profile.signed_zeros => 1 << (8 * T::TYPE.size() - 1),
            8 => to_raw(nan),
            9 => to_raw(whole(self.random.word() as i32)),
            _ => to_raw(whole(self.random.below(100) as i32 - 50)),
        }
    }

    /// The raw word of a small whole number.
    pub(super) fn raw_whole(&mut self, ty: Type) -> u64 {
        let whole = self.random.below(16) as i32 - 8;
        wattle_ir::eval::cast(Type::I32, ty, whole.to_raw())
    }

    pub(super) fn constant(&mut self, ty: Type) -> ExprId {
        let raw = self.raw_value(ty);
        self.raw(ty, raw)
    }
}
