//! The shape of a launch.

/// The extents of a launch, and the places for its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The threads per block in each dimension.
    pub block: [u32; 3],
    /// The shared memory in bytes beyond what the text declares.
    pub dynamic: u32,
    /// The number of places for blocks.
    pub places: u32,
}
