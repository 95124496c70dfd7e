//! Raw words: how values of all types are kept where their types are data, and how they lie in memory.

/// The raw word of a value that lies in memory as these bytes, 8 at the most, in the host's order.
pub fn from_bytes(bytes: &[u8]) -> u64 {
    let append = |raw: u64, &byte: &u8| raw << 8 | u64::from(byte);
    if cfg!(target_endian = "little") { bytes.iter().rev().fold(0, append) } else { bytes.iter().fold(0, append) }
}

/// Writes the low end of a raw word to memory, in the host's order: the bytes of a value.
pub fn to_bytes(raw: u64, into: &mut [u8]) {
    let last = into.len().wrapping_sub(1);
    for (at, byte) in into.iter_mut().enumerate() {
        let number = if cfg!(target_endian = "little") { at } else { last - at };
        *byte = (raw >> (8 * number)) as u8;
    }
}
