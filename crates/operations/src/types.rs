//! The types of values, and the sets of vector instructions that hosts have for them.

/// The types of values, `bool` first.
///
/// A row is
///
/// ```text
/// /// The documentation of the type.
/// Variant rust bits Kind BitsType kind Atomic
/// ```
///
/// - `rust` is the type in Rust, `bits` its size in memory, and `Kind` what its values are.
/// - `BitsType` is the unsigned integer type as wide, which the bits can be read as.
/// - `kind` is the name that the kind has in [`operations!`](crate::operations!).
/// - `Atomic` is the standard library's type through which the host does atomic operations on it; types without one
///   have no atomic operations.
#[macro_export]
macro_rules! types {
    ($then:ident $($with:tt)*) => { $crate::types! { ($then) $($with)* } };
    (($($then:tt)+) $($with:tt)*) => { $($then)+! { $($with)*
        /// A truth value. It lives in slots and never in memory.
        Bool bool 8 Bool U8 bool;
        /// Unsigned, 8 bits.
        U8 u8 8 Unsigned U8 unsigned;
        /// Signed, 8 bits, two's complement.
        I8 i8 8 Signed U8 signed;
        /// Unsigned, 16 bits.
        U16 u16 16 Unsigned U16 unsigned;
        /// Signed, 16 bits.
        I16 i16 16 Signed U16 signed;
        /// Unsigned, 32 bits.
        U32 u32 32 Unsigned U32 word AtomicU32;
        /// Signed, 32 bits.
        I32 i32 32 Signed U32 signed AtomicI32;
        /// Unsigned, 64 bits.
        U64 u64 64 Unsigned U64 word AtomicU64;
        /// Signed, 64 bits.
        I64 i64 64 Signed U64 signed AtomicI64;
        /// IEEE 754 binary16, the `half` crate's type.
        F16 f16 16 Float U16 half;
        /// The upper half of a binary32 (bfloat16), the `half` crate's type.
        BF16 bf16 16 Float U16 half;
        /// IEEE 754 binary32.
        F32 f32 32 Float U32 float AtomicU32;
        /// IEEE 754 binary64.
        F64 f64 64 Float U64 float AtomicU64;
    } };
}

/// The floating-point types among [`types!`]: hands `{Variant rust; …} {Variant rust; …}` to another macro, first those
/// of 16 bits, then the wider ones.
#[macro_export]
macro_rules! floats {
    ($then:ident $($with:tt)*) => { $crate::types! { ($crate::keep_floats) {$then $($with)*} {} {} } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! keep_floats {
    ({$then:ident $($with:tt)*} $halves:tt $wide:tt) => { $then! { $($with)* $halves $wide } };
    ($then:tt {$($halves:tt)*} $wide:tt $(#[$doc:meta])* $variant:ident $rust:ident $bits:literal Float $bits_type:ident
        half $($atomic:ident)?; $($rest:tt)*) => {
        $crate::keep_floats! { $then {$($halves)* $variant $rust;} $wide $($rest)* }
    };
    ($then:tt $halves:tt {$($wide:tt)*} $(#[$doc:meta])* $variant:ident $rust:ident $bits:literal Float $bits_type:ident
        float $($atomic:ident)?; $($rest:tt)*) => {
        $crate::keep_floats! { $then $halves {$($wide)* $variant $rust;} $($rest)* }
    };
    ($then:tt $halves:tt $wide:tt $(#[$doc:meta])* $variant:ident $rust:ident $bits:literal $kind:ident $bits_type:ident
        $row:ident $($atomic:ident)?; $($rest:tt)*) => {
        $crate::keep_floats! { $then $halves $wide $($rest)* }
    };
}

/// The sets of vector instructions that kernels are compiled for on the host, besides those of the build: of x86-64,
/// from the fewest to the most. Each has a name of a type, one that people write, and the features of the processor
/// that it is.
#[macro_export]
macro_rules! vectors {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// AVX2, and what came with it.
        Avx2 "avx2" ["avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "popcnt"]
        /// The parts of AVX-512 that all server processors have.
        Avx512 "avx512" [
            "avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "popcnt"
            "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"
        ]
    } };
}
