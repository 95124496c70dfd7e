//! The words of CUDA, C, OpenCL and shaders for what kernels write otherwise, as a table.
//!
//! What kernels do not have at all is in `absent.rs`.

use proc_macro2::Span;

use super::names::instead;
use crate::numbers::math;
use crate::source;

/// Words, and what a kernel writes in their place. A word that ends in `*` begins so.
struct Words {
    words: &'static [&'static str],
    write: &'static str,
}

/// Functions. Those that begin with `__` are nobody else's; others may be functions of the user's.
const FUNCTIONS: &[Words] = &[
    Words { words: &["__popc", "__popcll", "popcount", "bitCount", "countbits"], write: "`x.count_ones()`" },
    Words { words: &["__clz", "__clzll", "clz"], write: "`x.leading_zeros()`" },
    Words {
        words: &["__ffs", "__ffsll"],
        write: "`x.trailing_zeros()`, which counts from 0 and gives the width of the type for 0",
    },
    Words { words: &["ctz"], write: "`x.trailing_zeros()`" },
    Words { words: &["__brev", "__brevll", "reversebits", "bitfieldReverse"], write: "`x.reverse_bits()`" },
    Words { words: &["__byte_perm"], write: "`x.swap_bytes()`, or shifts and `&`" },
    Words { words: &["__umulhi", "__umul64hi", "mul_hi"], write: "`x.mul_hi(y)`" },
    Words { words: &["__mulhi"], write: "`((x as i64 * y as i64) >> 32) as i32`" },
    Words { words: &["__mul24", "__umul24", "mul24"], write: "`x * y`" },
    Words { words: &["__funnelshift_*"], write: "`x.rotate_left(n)`, or `(high << n) | (low >> (32 - n))`" },
    Words { words: &["__sad", "__usad"], write: "`x.abs_diff(y) + z`" },
    Words { words: &["__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"], write: "`x[i]` of a `Read` view" },
    Words { words: &["__stwb", "__stcg", "__stcs", "__stwt"], write: "`x[i] = value`" },
    Words {
        words: &[
            "__float_as_uint",
            "__float_as_int",
            "__double_as_longlong",
            "as_uint",
            "as_int",
            "asuint",
            "floatBitsToUint",
        ],
        write: "`x.to_bits()`, of which `x.to_bits() as i32` has a sign",
    },
    Words {
        words: &["__uint_as_float", "__int_as_float", "__longlong_as_double", "as_float", "asfloat", "uintBitsToFloat"],
        write: "`f32::from_bits(n)` (or `f64`), with `n as u32` where it has a sign",
    },
    Words {
        words: &["__float2half2*", "__floats2half2*", "__float22half2*", "__half2half2", "__halves2half2"],
        write: "an array of two, `[x as f16, y as f16]`, which has the arithmetic of pairs",
    },
    Words {
        words: &["__float2bfloat162*", "__floats2bfloat162*", "__float22bfloat162*", "__bfloat162bfloat162"],
        write: "an array of two, `[x as bf16, y as bf16]`, which has the arithmetic of pairs",
    },
    Words {
        words: &["__half22float2", "__bfloat1622float2"],
        write: "`[h[0] as f32, h[1] as f32]` of a pair `h`, `[f16; 2]` or `[bf16; 2]`",
    },
    Words { words: &["__low2float", "__low2half", "__low2bfloat16"], write: "`h[0]` of a pair, `h[0] as f32`" },
    Words { words: &["__high2float", "__high2half", "__high2bfloat16"], write: "`h[1]` of a pair, `h[1] as f32`" },
    Words { words: &["__float2half*"], write: "`x as f16`" },
    Words { words: &["__float2bfloat16*"], write: "`x as bf16`" },
    Words { words: &["__half2float", "__bfloat162float"], write: "`x as f32`" },
    Words {
        words: &["__dp4a", "dp4a", "__dp2a*", "dp2a"],
        write: "the sum of the products of the bytes: of `[i8; 4]` elements `x` and `y`, `for k in 0..4 { sum += x[k] as i32 * \
                y[k] as i32; }`",
    },
    Words {
        words: &["__float2*", "__double2*", "__int2*", "__uint2*", "__ll2*", "__ull2*", "__half2*"],
        write: "a conversion, `x as i32`, `x as f32`; it rounds towards zero to integers, so `x.round_ties_even() as i32`",
    },
    Words { words: &["__expf", "native_exp"], write: "`x.exp_fast()`, or `x.exp()`" },
    Words { words: &["__exp10f", "exp10", "exp10f"], write: "`base.pow(x)` with `let base = 10.0f32;`" },
    Words { words: &["sign"], write: "`x.signum()`, which is 1.0 for 0.0 and -1.0 for -0.0" },
    Words { words: &["__logf", "native_log"], write: "`x.ln_fast()`, or `x.ln()`" },
    Words { words: &["__log2f", "native_log2"], write: "`x.log2_fast()`, or `x.log2()`" },
    Words { words: &["__log10f", "native_log10"], write: "`x.log10_fast()`, or `x.log10()`" },
    Words { words: &["__powf", "native_powr"], write: "`x.pow_fast(y)`, or `x.pow(y)`" },
    Words { words: &["__sinf", "native_sin"], write: "`x.sin_fast()`, or `x.sin()`" },
    Words { words: &["__cosf", "native_cos"], write: "`x.cos_fast()`, or `x.cos()`" },
    Words { words: &["__tanf", "native_tan"], write: "`x.tan_fast()`, or `x.tan()`" },
    Words { words: &["__tanhf"], write: "`x.tanh_fast()`, or `x.tanh()`" },
    Words { words: &["__sincosf"], write: "`x.sin_fast()` and `x.cos_fast()`, or `x.sin_cos()`" },
    Words { words: &["__fdividef", "native_divide"], write: "`x.div_fast(y)`, or `x / y`" },
    Words { words: &["native_sqrt"], write: "`x.sqrt_fast()`, or `x.sqrt()`" },
    Words { words: &["native_rsqrt"], write: "`x.rsqrt_fast()`, or `x.rsqrt()`" },
    Words { words: &["native_recip"], write: "`x.recip_fast()`, or `x.recip()`" },
    Words { words: &["rsqrtf", "__frsqrt_*", "inversesqrt", "inverseSqrt"], write: "`x.rsqrt()`, or `x.rsqrt_fast()`" },
    Words { words: &["__frcp_*", "__drcp_*"], write: "`x.recip()`, or `x.recip_fast()`" },
    Words { words: &["__fsqrt_*", "__dsqrt_*"], write: "`x.sqrt()`" },
    Words {
        words: &["__fadd_*", "__dadd_*"],
        write: "`x + y`, which is never contracted unless the kernel permits it",
    },
    Words {
        words: &["__fsub_*", "__dsub_*"],
        write: "`x - y`, which is never contracted unless the kernel permits it",
    },
    Words {
        words: &["__fmul_*", "__dmul_*"],
        write: "`x * y`, which is never contracted unless the kernel permits it",
    },
    Words { words: &["__fdiv_*", "__ddiv_*"], write: "`x / y`" },
    Words { words: &["__fmaf_*", "__fma_*", "mad"], write: "`x.fma(y, z)`" },
    Words { words: &["__saturatef", "saturate"], write: "`x.clamp(0.0, 1.0)`" },
    Words { words: &["mix", "lerp"], write: "`x + (y - x) * t`" },
    Words {
        words: &["__hadd*", "__hsub*", "__hmul*", "__hdiv*", "__hneg*", "__habs*", "__hfma*", "__hmax*", "__hmin*"],
        write: "`x + y`, `x.abs()`, `x.fma(y, z)` and so on of `f16` and `bf16`, and of pairs, `[f16; 2]`, the same by element",
    },
    Words {
        words: &["__heq*", "__hne*", "__hlt*", "__hle*", "__hgt*", "__hge*"],
        write: "`x < y` and so on, of `f16` and `bf16`",
    },
    Words {
        words: &[
            "make_char*",
            "make_uchar*",
            "make_short*",
            "make_ushort*",
            "make_int*",
            "make_uint*",
            "make_long*",
            "make_ulong*",
            "make_float*",
            "make_double*",
            "float2",
            "float3",
            "float4",
            "vec2",
            "vec3",
            "vec4",
        ],
        write: "an array, `[x, y, z, w]` of type `[f32; 4]`, or a struct with `#[derive(Element)]`",
    },
    Words {
        words: &["__trap", "__assert_fail", "__brkpt", "abort"],
        write: "`assert!(condition, \"x = {x}\")`, which the launch reports",
    },
    Words {
        words: &["get_global_id"],
        write: "`acc.thread_in_grid()`, or a loop, `for (i, x) in acc.items(&mut out)`",
    },
    Words { words: &["get_local_id"], write: "`acc.thread_in_block()`" },
    Words { words: &["get_group_id"], write: "`acc.block_in_grid()`" },
    Words { words: &["get_global_size"], write: "`acc.threads_in_grid()`" },
    Words { words: &["get_local_size"], write: "`acc.threads_in_block()`" },
    Words { words: &["get_num_groups"], write: "`acc.blocks_in_grid()`" },
    Words { words: &["get_sub_group_local_id"], write: "`acc.warp().lane()`" },
    Words {
        words: &["__lanemask_*"],
        write: "`mask.count_below(lane)` of the mask that `warp.ballot(…)` gives, with `let lane = warp.lane()`",
    },
    Words { words: &["get_sub_group_size"], write: "`acc.warp().size()`" },
    Words {
        words: &[
            "barrier",
            "work_group_barrier",
            "workgroupBarrier",
            "storageBarrier",
            "GroupMemoryBarrier*",
            "syncthreads",
        ],
        write: "`acc.sync_block()`",
    },
    Words {
        words: &["mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence", "memoryBarrier*"],
        write: "`acc.mem_fence(Scope::Device, Order::AcqRel)`, with the scope and the order that are needed",
    },
    Words {
        words: &["atomic_add", "atomic_inc", "atom_add", "InterlockedAdd"],
        write: "`x.fetch_add(i, value)` of an `Atomic` view",
    },
    Words {
        words: &["atomic_cmpxchg", "atom_cmpxchg", "InterlockedCompareExchange"],
        write: "`x.compare_exchange(i, old, new)` of an `Atomic` view",
    },
    Words { words: &["isnan"], write: "`x.is_nan()`" },
    Words { words: &["isinf"], write: "`x.is_infinite()`" },
    Words { words: &["isfinite"], write: "`x.is_finite()`" },
    Words { words: &["signbit"], write: "`x.is_sign_negative()`" },
];

/// Variables that every thread has elsewhere.
const VARIABLES: &[Words] = &[
    Words {
        words: &["threadIdx", "gl_LocalInvocationID"],
        write: "`acc.thread_in_block()`; the index in the grid, `blockIdx.x * blockDim.x + threadIdx.x`, is `acc.thread_in_grid()`",
    },
    Words {
        words: &["blockIdx", "gl_WorkGroupID"],
        write: "`acc.block_in_grid()`; the index in the grid, `blockIdx.x * blockDim.x + threadIdx.x`, is `acc.thread_in_grid()`",
    },
    Words { words: &["blockDim", "gl_WorkGroupSize"], write: "`acc.threads_in_block()`" },
    Words { words: &["gridDim", "gl_NumWorkGroups"], write: "`acc.blocks_in_grid()`" },
    Words { words: &["gl_GlobalInvocationID"], write: "`acc.thread_in_grid()`" },
    Words { words: &["warpSize"], write: "`acc.warp().size()`" },
    Words { words: &["laneId"], write: "`acc.warp().lane()`" },
];

/// C's names of mathematical functions that are not the method's, without the `f` of those of `float`.
const OF_C: &[(&str, &str)] = &[
    ("fabs", "abs"),
    ("fmax", "max"),
    ("fmin", "min"),
    ("log", "ln"),
    ("log1p", "ln_1p"),
    ("expm1", "exp_m1"),
    ("rint", "round_ties_even"),
    ("nearbyint", "round_ties_even"),
    ("sincos", "sin_cos"),
    ("atan2", "atan2"),
];

fn write(table: &[Words], name: &str) -> Option<&'static str> {
    let is = |known: &&str| match known.strip_suffix('*') {
        Some(first) => name.starts_with(first),
        None => *known == name,
    };
    table.iter().find(|row| row.words.iter().any(is)).map(|row| row.write)
}

/// The message about a function that is called by its name alone, if that is a word for something else.
pub(super) fn function(name: &str, at: Span) -> Option<String> {
    let message = match (write(FUNCTIONS, name), method(name)) {
        (Some(write), _) => format!("`{name}` has another name in kernels: write {write}"),
        (None, Some(method)) => format!("`{name}` is a method in kernels: write {method}"),
        (None, None) => format!("kernels have no `{name}`: {}", absent_function(name)?),
    };
    (name.starts_with("__") || !source::may_define(name, at)).then_some(message)
}

/// What is written in the place of a function that is none of kernels', by its name for `double` or for `float`.
fn absent_function(name: &str) -> Option<&'static str> {
    instead(name).or_else(|| instead(name.strip_suffix('f')?))
}

/// The message about a variable, if its name is a word for something else.
pub(super) fn variable(name: &str) -> Option<String> {
    let write = write(VARIABLES, name)?;
    Some(format!("`{name}` has another name in kernels: write {write}"))
}

/// The call of a mathematical method by its name as a function, in Rust or C.
pub(super) fn method(name: &str) -> Option<String> {
    let known = |name: &str| {
        let of_c = OF_C.iter().find(|(of_c, _)| *of_c == name).map_or(name, |(_, method)| method);
        Some((of_c.to_owned(), math(of_c)?.operands.len()))
    };
    let (method, arguments) = known(name).or_else(|| known(name.strip_suffix('f')?))?;
    Some(match (method.as_str(), arguments) {
        ("atan2", _) => "`y.atan2(x)`".to_owned(),
        (_, 0) => format!("`x.{method}()`"),
        (_, 1) => format!("`x.{method}(y)`"),
        _ => format!("`x.{method}(y, z)`"),
    })
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, VARIABLES, method, write};
    use crate::parse::absent::{Called, absent};

    const PAGE: &str = include_str!("../../../wattle/src/for_cuda_users.rs");

    /// Words of the page's sections about kernels that are types and not called.
    const TYPES: [&str; 3] = ["__half", "__half2", "__nv_bfloat16"];

    /// The page says that a word which a kernel calls is refused with what to write.
    #[test]
    fn words_of_the_page_for_cuda_users_are_refused() {
        let in_kernels = PAGE.split("# The host's side").next().expect("a beginning");
        let rows = in_kernels.lines().filter_map(|line| line.strip_prefix("//! | ")?.split(" | ").next());
        let words = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
        let is_called = |word: &&str| {
            let is_name = word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            let is_of_cuda = word.starts_with("__") || word.starts_with("atomic") || word.ends_with("Idx");
            is_name && is_of_cuda && !word.ends_with("__") && !TYPES.contains(word)
        };
        let is_refused = |word: &str| {
            absent(word, Called::Function).is_some()
                || write(FUNCTIONS, word).or_else(|| write(VARIABLES, word)).is_some()
        };
        let called: Vec<_> = words.filter(is_called).collect();
        let missing: Vec<_> = called.iter().filter(|word| !is_refused(word)).collect();
        assert!(missing.is_empty() && called.len() > 40, "{missing:?} of {}", called.len());
    }

    #[test]
    fn functions_of_c_are_methods() {
        for (of_c, written) in [
            ("sqrtf", "`x.sqrt()`"),
            ("sqrt", "`x.sqrt()`"),
            ("powf", "`x.powf(y)`"),
            ("fmaxf", "`x.max(y)`"),
            ("fabsf", "`x.abs()`"),
            ("fmaf", "`x.fma(y, z)`"),
            ("log1pf", "`x.ln_1p()`"),
        ] {
            assert_eq!(method(of_c).as_deref(), Some(written));
        }
        assert_eq!(method("helper"), None);
    }
}
