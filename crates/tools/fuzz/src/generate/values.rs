//! Constants: the values at which arithmetic goes wrong.

use wattle_ir::{ExprId, Scalar, Type, TypeKind, eval};

use super::Generator;

/// Floats, as the nearest values of their types. The nearest one of no type whose subnormal numbers are not promised is
/// subnormal.
const FLOATS: [f64; 36] = [
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
    0.499_999_999_999_999_94,
    -0.999_999_94,
    1e-20,
    1e20,
    1e-200,
    1e200,
    -3.4e38,
    -1.7e308,
    127.5,
    255.5,
    65_535.9,
    8_388_609.0,
    16_777_217.0,
    2_147_483_647.5,
    2_147_483_648.0,
    -2_147_483_648.0,
    -2_147_483_649.0,
    4_294_967_295.5,
    4_294_967_296.0,
    4_503_599_627_370_497.5,
    9.223_372_036_854_776e18,
    1.844_674_4e19,
    1.844_674_407_370_955_2e19,
];

impl Generator<'_> {
    /// The raw word of a value: of a float a clean one, which may be infinite or no number.
    pub(super) fn raw_value(&mut self, ty: Type) -> u64 {
        let bits = ty.bits();
        let mask = u64::MAX >> (64 - bits);
        match ty.kind() {
            TypeKind::Bool => self.random.word() & 1,
            TypeKind::Float => self.float(ty),
            TypeKind::Unsigned | TypeKind::Signed => match self.random.below(8) {
                0..=2 => self.random.below(10) as u64,
                3 => mask - self.random.below(4) as u64,
                4 => (1 << self.random.below(bits)) & mask,
                5 => ((1u64 << (bits - 1)) - self.random.below(2) as u64) & mask,
                _ => self.random.word() & mask,
            },
        }
    }

    fn float(&mut self, ty: Type) -> u64 {
        let value = match self.random.below(12) {
            0..=5 => self.random.pick(&FLOATS),
            6 => f64::INFINITY,
            7 if self.profile.signed_zeros => -0.0,
            8 => f64::NAN,
            9 => f64::from(self.random.word() as i32),
            _ => f64::from(self.random.below(100) as i32 - 50),
        };
        eval::cast(Type::F64, ty, value.to_raw())
    }

    /// The raw word of a small whole number.
    pub(super) fn raw_whole(&mut self, ty: Type) -> u64 {
        let whole = self.random.below(16) as i32 - 8;
        eval::cast(Type::I32, ty, whole.to_raw())
    }

    pub(super) fn constant(&mut self, ty: Type) -> ExprId {
        let raw = self.raw_value(ty);
        self.raw(ty, raw)
    }
}
