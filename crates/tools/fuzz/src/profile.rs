//! The profile of random kernels: what they may use.

use wattle_ir::Type;
use wattle_memory::Scope;

/// What random kernels may use: what a device has, and how large they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The element types; `U32` is among them. `Bool` is always there too.
    pub types: Vec<Type>,
    /// The types among them that have atomic operations.
    pub atomics: Vec<Type>,
    /// The scopes of fences and atomics.
    pub scopes: Vec<Scope>,
    /// Whether kernels divide floats and take their roots.
    pub division_and_root: bool,
    /// Whether kernels use `fma`.
    pub fma: bool,
    /// Whether the sign of a zero counts. Where it does not, no zero is negative.
    pub signed_zeros: bool,
    /// Whether threads do what they must not, now and then: indices out of bounds, divisors of zero, assertions that
    /// do not hold.
    pub faults: bool,
    /// Whether threads print lines, now and then.
    pub prints: bool,
    /// The lanes of a warp; 0 where kernels do not use their warps.
    pub warp_size: u32,
    /// Whether a block of a kernel that uses its warps has whole ones alone.
    pub whole_warps: bool,
    /// The most threads of a launch, at most 64.
    pub most_threads: u32,
    /// The approximate number of statements of a kernel.
    pub size: u32,
}

impl Profile {
    /// The profile with all types, block and device scope, all exact operations, and no faults.
    pub fn full() -> Profile {
        Profile {
            types: Type::ELEMENTS.to_vec(),
            atomics: Type::ELEMENTS.into_iter().filter(|ty| ty.is_atomic()).collect(),
            scopes: vec![Scope::Block, Scope::Device],
            division_and_root: true,
            fma: true,
            signed_zeros: true,
            faults: false,
            prints: true,
            warp_size: 4,
            whole_warps: false,
            most_threads: 64,
            size: 24,
        }
    }

    /// The profile of devices of 32 bits: [`Profile::full`] with `u32`, `i32`, `f32` and `bool` as its only types.
    pub fn narrow() -> Profile {
        Profile::full().only(&[Type::U32, Type::I32, Type::F32])
    }

    /// The profile without the types that are not in `types`, and without their atomics. `types` has `U32`.
    #[must_use]
    pub fn only(self, types: &[Type]) -> Profile {
        let keep = |all: Vec<Type>| all.into_iter().filter(|ty| types.contains(ty)).collect();
        Profile { types: keep(self.types), atomics: keep(self.atomics), ..self }
    }

    /// The profile with system scope too.
    #[must_use]
    pub fn with_system_scope(self) -> Profile {
        Profile { scopes: Scope::ALL.to_vec(), ..self }
    }

    /// The profile for warps of this many lanes; 0 for kernels that do not use their warps.
    #[must_use]
    pub fn with_warps(self, lanes: u32) -> Profile {
        Profile { warp_size: lanes, ..self }
    }

    /// The profile with faults.
    #[must_use]
    pub fn with_faults(self) -> Profile {
        Profile { faults: true, ..self }
    }

    /// The profile for kernels of about `size` statements.
    #[must_use]
    pub fn sized(self, size: u32) -> Profile {
        Profile { size, ..self }
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::full()
    }
}
