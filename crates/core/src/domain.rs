//! Memory synchronization domains: which launches a device-scope operation has to wait for.
//!
//! A release at device scope waits until all earlier writes of its *domain* are visible, those of other launches
//! included. Launches in a domain of their own do not slow others' fences; in return nothing narrower than
//! [`Scope::System`] orders anything between two domains (CUDA C++ Programming Guide, "Memory Synchronization
//! Domains"). Launches that an event or the queue orders need nothing: the end of a launch orders between domains too.

use wattle_ir::{Access, Kernel, Place};
use wattle_memory::Scope;

/// The domain that a launch is in, as the program names it; [`SyncDomainMap`] maps it to one of the device's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyncDomain {
    /// The domain of work that stays on its device.
    #[default]
    Default,
    /// The domain of work that writes to the host or to other devices.
    Remote,
}

/// The device's memory synchronization domains that the names stand for: numbers below
/// [`Properties::sync_domains`](crate::Properties::sync_domains).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyncDomainMap {
    /// The device's domain for [`SyncDomain::Default`]; 0 by default.
    pub default: u8,
    /// The device's domain for [`SyncDomain::Remote`]; 1 by default.
    pub remote: u8,
}

impl Default for SyncDomainMap {
    fn default() -> Self {
        SyncDomainMap { default: 0, remote: 1 }
    }
}

impl SyncDomainMap {
    /// The device's domain of that name.
    pub fn domain(self, name: SyncDomain) -> u8 {
        match name {
            SyncDomain::Default => self.default,
            SyncDomain::Remote => self.remote,
        }
    }
}

/// The parameters of a kernel that its threads share by operations narrower than system scope: a bit for each, the last
/// one for all that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BelowSystem(u64);

impl BelowSystem {
    /// The set of all parameters, for a kernel of which it is not known what it does with them.
    pub(crate) const ALL: BelowSystem = BelowSystem(u64::MAX);

    pub(crate) fn of(kernel: &Kernel) -> BelowSystem {
        let (mut fences, mut all) = (None::<Scope>, None::<Scope>);
        let mut bits = 0;
        kernel.walk(&mut |stmt| {
            let Some(scope) = stmt.scope() else { return };
            all = all.max(Some(scope));
            match stmt.place() {
                Some(Place::Param(param)) if scope < Scope::System => bits |= Self::bit(param.index()),
                Some(_) => {}
                None => fences = fences.max(Some(scope)),
            }
        });
        for (number, param) in kernel.params.iter().enumerate() {
            let widest = match param.kind {
                // Fences of device scope order accesses around an atomic of system scope for the device alone.
                wattle_ir::ParamKind::View { access: Access::Atomic, .. } => fences,
                wattle_ir::ParamKind::View { access: Access::Shared, .. } => all,
                wattle_ir::ParamKind::View { access: Access::Read | Access::PerItem, .. }
                | wattle_ir::ParamKind::Scalar(_) => None,
            };
            if widest == Some(Scope::Device) {
                bits |= Self::bit(number);
            }
        }
        BelowSystem(bits)
    }

    /// Whether the threads share this parameter by operations narrower than system scope.
    pub(crate) fn contains(self, parameter: usize) -> bool {
        self.0 & Self::bit(parameter) != 0
    }

    fn bit(parameter: usize) -> u64 {
        1 << parameter.min(63)
    }
}

/// How a use shares its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sharing {
    pub(crate) access: Access,
    /// The number of the device that the launch is on.
    pub(crate) device: usize,
    /// The device's domain that the launch is in.
    pub(crate) domain: u8,
    /// Whether operations narrower than system scope are to order it.
    pub(crate) below_system: bool,
    /// Whether its threads touch it by plain and by atomic accesses, as those of a module may: shared memory for both.
    pub(crate) mixes: bool,
}

impl Sharing {
    /// Whether two uses at the same time are wrong whatever orders their accesses.
    pub(crate) fn conflicts_by_access(self, other: Sharing) -> bool {
        let is_shared = |access| matches!(access, Access::Shared | Access::Atomic);
        let mixed = (self.mixes || other.mixes) && is_shared(self.access) && is_shared(other.access);
        self.access != other.access && !mixed || self.conflicts_with_all()
    }

    /// Whether all other uses at the same time are wrong.
    pub(crate) fn conflicts_with_all(self) -> bool {
        self.access == Access::PerItem
    }

    /// Whether two uses at the same time are wrong.
    pub(crate) fn conflicts(self, other: Sharing) -> bool {
        let is_across = self.device != other.device || self.domain != other.domain;
        let across = is_across && self.access != Access::Read;
        self.conflicts_by_access(other) || across && (self.below_system || other.below_system)
    }
}

/// The sharing of a use that is no launch: copies, fills and guards order nothing by themselves, wherever they are.
impl From<Access> for Sharing {
    fn from(access: Access) -> Sharing {
        Sharing { access, device: 0, domain: 0, below_system: false, mixes: false }
    }
}
