//! What threads do wrong.

/// Something wrong that a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// An access that leaves the range it points into: the range's name and size, and the offset.
    Beyond {
        /// The name of the range.
        name: String,
        /// The size of the range in bytes.
        bytes: u64,
        /// The offset of the access in bytes.
        offset: i64,
    },
    /// An access of shared memory that the launch sizes, of a launch that gives none: the variable's name.
    NoDynamicShared(String),
    /// An access that is not aligned to its size in bytes.
    Misaligned(u64),
    /// `trap`, or undefined behaviour: in words.
    Trap(&'static str),
    /// An operation of a warp by a lane that its mask leaves out.
    NotInMask,
    /// A value that comes from this register or this byte of local memory, which the thread has not written.
    Unwritten(String),
    /// A value that comes from what this statement loaded, of memory that nobody has written.
    Loaded {
        /// The number of the statement.
        load: u32,
        /// The place of the statement in the source.
        at: String,
    },
    /// A value that comes from what a shuffle took from this lane, which had ended, is not in the mask, or does not
    /// exist.
    OfNobody(u32),
    /// The source of an asynchronous copy has changed since the copy began.
    CopiedWhileWritten,
    /// A write, or an atomic operation, of memory that kernels only read.
    Constant(&'static str),
    /// An access to an address that is in no range.
    Wild(u64),
}

impl Wrong {
    /// Whether the fault may come of another one: of a thread that has ended there, and has not done what others wait
    /// for.
    pub fn may_follow(&self) -> bool {
        matches!(self, Wrong::Unwritten(_) | Wrong::Loaded { .. } | Wrong::OfNobody(_) | Wrong::NotInMask)
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Beyond { name, bytes, offset } => {
                write!(f, "an access at byte {offset} of `{name}`, which has {bytes} bytes")
            }
            Wrong::NoDynamicShared(name) => write!(
                f,
                "an access of `{name}`, whose size the launch gives, and this one has given none: say it with --dynamic-shared \
                 BYTES"
            ),
            Wrong::Misaligned(bytes) => {
                write!(f, "an access of {bytes} bytes at an address that is no multiple of {bytes}")
            }
            Wrong::Trap(what) => f.write_str(what),
            // PTX ISA 9.7.9.6, 9.7.13.2, 9.7.13.10: "the behavior is undefined if the executing thread is not in the
            // membermask".
            Wrong::NotInMask => {
                f.write_str("a lane that is not in the mask of its own operation, whose result is undefined")
            }
            Wrong::Unwritten(place) => write!(f, "{place} is read before it is written"),
            Wrong::Loaded { at, .. } => {
                write!(f, "a use of what was loaded at {at}, of memory that nobody has written")
            }
            // PTX ISA 9.7.9.6: what is taken from an inactive thread, or from one that is not in the mask, is
            // undefined.
            Wrong::OfNobody(lane) => {
                write!(
                    f,
                    "a use of what a shuffle took from lane {lane}, which took no part in it, so that it is undefined"
                )
            }
            Wrong::CopiedWhileWritten => f.write_str(
                "an asynchronous copy of what is written before the copy was waited for, so that it may copy either",
            ),
            Wrong::Constant(memory) => write!(f, "a write to {memory}, which kernels only read"),
            Wrong::Wild(address) => write!(f, "an access at address {address:#x}, which is in no buffer"),
        }
    }
}
