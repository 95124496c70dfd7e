//! Scopes: the reach of an operation's ordering.

use std::fmt;

/// The set of threads to which a fence or an atomic operation applies, from the narrowest to the widest: `Block` ⊂
/// `Device` ⊂ `System`.
///
/// Two operations order each other only where each one's scope includes the other one's thread (PTX ISA 8.5,
/// section 8.7 "Morally strong operations"); so the narrowest scope that is right is the one that includes both.
///
/// | scope    | threads                                         | PTX    | SPIR-V    | host          |
/// |----------|-------------------------------------------------|--------|-----------|---------------|
/// | `Block`  | the block of the thread                         | `.cta` | Workgroup | compiler fence |
/// | `Device` | every thread of every launch on the device      | `.gpu` | Device    | fence         |
/// | `System` | those, the host's threads and all other devices | `.sys` | none      | fence         |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scope {
    /// The threads of one block.
    Block,
    /// All threads of one device.
    Device,
    /// The threads of all devices and of the host.
    System,
}

impl Scope {
    /// All scopes, narrowest first.
    pub const ALL: [Scope; 3] = [Scope::Block, Scope::Device, Scope::System];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Block => "block",
            Scope::Device => "device",
            Scope::System => "system",
        })
    }
}
