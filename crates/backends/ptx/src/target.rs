//! The target that code is made for, and the errors for a kernel that needs more than it has.

use thiserror::Error;
use wattle_ir::{FloatFormat, HalfFloat, Halves, Site, Type, UnaryOp};

/// The least compute capability that code is made for, in tenths.
pub const LEAST_SM: u32 = *wattle_memory::CAPABILITIES.start();
/// The greatest compute capability that code is made for, in tenths.
pub const GREATEST_SM: u32 = *wattle_memory::CAPABILITIES.end();

/// The compute capabilities that PTX 8.8 names, in tenths (PTX ISA 8.8, 11.1.2 "PTX Module Directives: .target"). Code
/// for one runs on all greater ones.
pub const CAPABILITIES: [u32; 12] = [70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120];

/// The short forms of functions of `f32` for which there are instructions; the last one since sm_75 and PTX 7.0 (PTX
/// ISA 8.8, 9.7.3).
const FAST: &[UnaryOp] = &[
    UnaryOp::RecipFast,
    UnaryOp::SqrtFast,
    UnaryOp::RsqrtFast,
    UnaryOp::Exp2Fast,
    UnaryOp::Log2Fast,
    UnaryOp::SinFast,
    UnaryOp::CosFast,
    UnaryOp::TanhFast,
];

/// A compute capability and a version of PTX that code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtxTarget {
    /// The compute capability, in tenths: 90 for sm_90. From [`LEAST_SM`] to [`GREATEST_SM`].
    pub sm: u32,
    /// The version of PTX, as (major, minor).
    pub ptx: (u32, u32),
    /// The most threads that a block of the launch has, if that is known: `.maxntid`.
    pub max_threads: Option<u32>,
    /// Whether a host watches the launch: threads look whether it is to begin and to stop, and mark that it has begun.
    pub watched: bool,
}

impl PtxTarget {
    /// A compute capability, in the version of PTX that code is best made in: 8.6, which has one-sided fences, or the
    /// first that knows the capability.
    pub fn new(sm: u32) -> PtxTarget {
        PtxTarget { sm, ptx: least_version(sm).max((8, 6)), max_threads: None, watched: true }
    }

    /// Returns the target with another version of PTX.
    pub fn with_ptx(self, major: u32, minor: u32) -> PtxTarget {
        PtxTarget { ptx: (major, minor), ..self }
    }

    /// Returns the target for blocks of at most `threads` threads.
    pub fn with_max_threads(self, threads: u32) -> PtxTarget {
        PtxTarget { max_threads: Some(threads), ..self }
    }

    /// Returns the target for launches that no host watches: without the looks at words that none of their threads
    /// writes, and without the mark that nobody reads. It is for a search of all executions.
    pub fn unwatched(self) -> PtxTarget {
        PtxTarget { watched: false, ..self }
    }

    /// The target's row of the lowering table. `fence.acquire` and `fence.release` need PTX 8.6 besides sm_90 (PTX ISA
    /// 8.6, 9.7.13.4 "membar/fence"); ptxas takes them silently in older versions, where they are not defined.
    pub(crate) fn lowered(self) -> wattle_memory::Target {
        let sm = if self.ptx < (8, 6) { self.sm.min(89) } else { self.sm };
        wattle_memory::Target::Ptx { sm }
    }

    /// What the target has of a floating-point type of 16 bits: of `.f16` all since before [`LEAST_SM`]; of `.bf16` the
    /// conversion and the fused multiply-add since sm_80 and PTX 7.0, the other arithmetic since sm_90 and PTX 7.8 (PTX
    /// ISA 8.8, 9.7.4 "Half precision floating-point instructions", 9.7.9.21 "cvt"). Subnormal numbers are kept.
    pub(crate) fn halves(self, ty: Type) -> Halves {
        match ty.float_format() {
            Some(FloatFormat::Half(HalfFloat::F16)) => Halves { values: true, sums: true, fma: true },
            Some(FloatFormat::Half(HalfFloat::BF16)) => {
                let has = self.sm >= 80 && self.ptx >= (7, 0);
                Halves { values: has, sums: self.sm >= 90 && self.ptx >= (7, 8), fma: has }
            }
            Some(FloatFormat::F32 | FloatFormat::F64) | None => Halves::NONE,
        }
    }

    /// The short forms of functions for which the target has an instruction.
    pub(crate) fn fast(self, ty: Type) -> &'static [UnaryOp] {
        match (ty == Type::F32, self.sm >= 75 && self.ptx >= (7, 0)) {
            (false, _) => &[],
            (true, true) => FAST,
            (true, false) => &FAST[..FAST.len() - 1],
        }
    }

    pub(crate) fn check(self, kernel: &str) -> Result<(), Lacking> {
        let (sm, ptx) = (self.sm, self.ptx);
        if !(LEAST_SM..=GREATEST_SM).contains(&sm) {
            return Err(Lacking::Capability { kernel: kernel.to_owned(), sm });
        }
        let least = least_version(sm);
        if ptx < least {
            return Err(Lacking::Version { kernel: kernel.to_owned(), sm, ptx, least });
        }
        Ok(())
    }
}

/// The first version of PTX that knows a compute capability (PTX ISA 8.8, 11.1 "PTX module directives: .target", and
/// 13 "Release notes"), and at least 6.0, where the memory model begins.
pub fn least_version(sm: u32) -> (u32, u32) {
    match sm {
        ..=70 => (6, 0),
        71..=72 => (6, 1),
        73..=75 => (6, 3),
        76..=80 => (7, 0),
        81..=86 => (7, 1),
        87 => (7, 4),
        88..=90 => (7, 8),
        91..=101 => (8, 6),
        102..=119 => (8, 8),
        120 => (8, 7),
        _ => (8, 8),
    }
}

/// Something that a kernel uses and a target lacks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Lacking {
    /// Code cannot be made for the compute capability.
    #[error("kernel `{kernel}` cannot be made for sm_{sm}: code is made for sm_{LEAST_SM} to sm_{GREATEST_SM}")]
    Capability {
        /// The kernel's name.
        kernel: String,
        /// The compute capability.
        sm: u32,
    },
    /// The version of PTX does not know the compute capability.
    #[error(
        "kernel `{kernel}` cannot be made for sm_{sm} in PTX {}.{}: that begins with PTX {}.{}",
        .ptx.0, .ptx.1, .least.0, .least.1
    )]
    Version {
        /// The kernel's name.
        kernel: String,
        /// The compute capability.
        sm: u32,
        /// The version that was asked for.
        ptx: (u32, u32),
        /// The first version that knows the compute capability.
        least: (u32, u32),
    },
    /// The parameters need more bytes than an entry can have.
    #[error("kernel `{kernel}` at {site} has parameters of {bytes} bytes, and a launch can have {most}")]
    Parameters {
        /// The kernel's name.
        kernel: String,
        /// The place where the kernel is defined.
        site: Site,
        /// The size of its parameters in bytes.
        bytes: u32,
        /// The most bytes that parameters can have.
        most: u32,
    },
    /// The table has no lowering for a scope. (The lowering table has all scopes for PTX; a table without one is
    /// reported here.)
    #[error("kernel `{kernel}` uses a scope at {site} that PTX lacks")]
    Scope {
        /// The kernel's name.
        kernel: String,
        /// The source line that uses the scope.
        site: Site,
    },
}

impl Lacking {
    /// Advice on what to do instead.
    pub fn instead(&self) -> &'static str {
        match self {
            Lacking::Capability { .. } => "use another device (`wattle devices` lists them)",
            Lacking::Version { .. } => "install a newer driver",
            Lacking::Parameters { .. } => "put several arrays into one buffer",
            Lacking::Scope { .. } => "use a narrower scope",
        }
    }
}

#[cfg(test)]
mod tests {
    use wattle_ir::DeviceProperty;

    use super::*;

    #[test]
    fn kernels_are_answered_what_the_code_has() {
        for sm in CAPABILITIES {
            let native = |ty| {
                let has = PtxTarget::new(sm).with_ptx(least_version(sm).0, least_version(sm).1).halves(ty);
                u32::from(has.values && has.sums && has.fma)
            };
            assert_eq!(DeviceProperty::Float16.on_cuda(sm), native(Type::F16), "sm_{sm}");
            assert_eq!(DeviceProperty::Bfloat16.on_cuda(sm), native(Type::BF16), "sm_{sm}");
        }
    }
}
