//! Fills of memory: drivers repeat a word of 32 bits.

/// The four bytes whose repetition is that of a value of 1, 2, 4 or 8 bytes; `None` if there are none.
pub fn word_of(value: &[u8]) -> Option<[u8; 4]> {
    match *value {
        [a] => Some([a; 4]),
        [a, b] => Some([a, b, a, b]),
        [a, b, c, d] => Some([a, b, c, d]),
        [a, b, c, d, e, f, g, h] if [a, b, c, d] == [e, f, g, h] => Some([a, b, c, d]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::word_of;

    #[test]
    fn the_word_repeated_is_the_value_repeated() {
        let values: [&[u8]; 4] = [&[7], &[1, 2], &[1, 2, 3, 4], &[1, 2, 3, 4, 1, 2, 3, 4]];
        for value in values {
            let repeated = |bytes: &[u8]| bytes.iter().copied().cycle().take(24).collect::<Vec<_>>();
            assert_eq!(word_of(value).map(|word| repeated(&word)), Some(repeated(value)), "{value:?}");
        }
        assert_eq!(word_of(&[1, 2, 3, 4, 1, 2, 3, 5]), None);
        assert_eq!(word_of(&[1, 2, 3]), None);
    }
}
