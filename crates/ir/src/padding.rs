//! What `#[derive(Element)]` asserts of a struct's bytes: what it says of those that no field fills, and how it is
//! aligned.

/// The most bytes that the words take.
const MOST: usize = 400;

/// The words for bytes of padding in a struct, made when it is compiled.
pub struct Padding {
    text: [u8; MOST],
    len: usize,
}

impl Padding {
    /// The words for the bytes `from..to` of the struct `of`, which stand before its field `before`, or at its end
    /// where that is empty. `fields` are the names of all its fields.
    pub const fn new(of: &str, before: &str, from: usize, to: usize, fields: &[&str]) -> Padding {
        let (bytes, mut words) = (to.saturating_sub(from), Padding { text: [0; MOST], len: 0 });
        words = words.with("`").with(of).with("` has padding ");
        words = match before.is_empty() {
            true => words.with("at its end: "),
            false => words.with("before its field `").with(before).with("`: "),
        };
        words = match bytes {
            0 | 1 => words.with("byte ").number(from),
            _ => words.with("bytes ").number(from).with(" to ").number(to - 1),
        };
        // The widest number that stands where the padding begins, and fills it.
        let wide = if from.is_multiple_of(4) && bytes.is_multiple_of(4) {
            4
        } else if from.is_multiple_of(2) && bytes.is_multiple_of(2) {
            2
        } else {
            1
        };
        words = words.with(". Put larger numbers first, or write a field there: `");
        let mut number = 0;
        while has_padding(fields, number) {
            number += 1;
        }
        words = match number {
            0 => words.with(NAME),
            number => words.with(NAME).number(number),
        };
        words = match bytes / wide {
            1 => words.with(": u").number(8 * wide),
            count => words.with(": [u").number(8 * wide).with("; ").number(count).with("]"),
        };
        words.with(",`")
    }

    /// The words as text.
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.text.split_at(self.len).0) {
            Ok(text) => text,
            // A name was cut within a letter.
            Err(_) => "a struct has padding: put larger numbers first, or fill it with fields",
        }
    }

    /// The words with these behind them, as far as there is room.
    const fn with(mut self, more: &str) -> Padding {
        let (more, mut at) = (more.as_bytes(), 0);
        while at < more.len() && self.len < MOST {
            self.text[self.len] = more[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    const fn number(self, number: usize) -> Padding {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let before = if number < 10 { self } else { self.number(number / 10) };
        before.with(DIGITS[number % 10])
    }
}

const NAME: &str = "padding";

/// Whether a struct has the field of that number that is proposed for padding: `padding`, `padding1`, …
const fn has_padding(fields: &[&str], number: usize) -> bool {
    let proposed = match number {
        0 => Padding { text: [0; MOST], len: 0 }.with(NAME),
        number => Padding { text: [0; MOST], len: 0 }.with(NAME).number(number),
    };
    let mut at = 0;
    while at < fields.len() {
        if is_equal(fields[at].as_bytes(), proposed.as_str().as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_equal(x: &[u8], y: &[u8]) -> bool {
    let mut at = 0;
    while at < x.len() && at < y.len() && x[at] == y[at] {
        at += 1;
    }
    at == x.len() && at == y.len()
}

/// Asserts that a struct is aligned as its fields ask for and no more: memory is aligned for numbers.
///
/// # Panics
/// It is aligned otherwise, by an attribute that the derive has not seen.
pub const fn assert_aligned(of: usize, fields: &[usize]) {
    let (mut most, mut at) = (1, 0);
    while at < fields.len() {
        most = if fields[at] > most { fields[at] } else { most };
        at += 1;
    }
    assert!(of == most, "an element is `#[repr(C)]` and nothing more: it is aligned as its fields are");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_is_aligned_as_its_fields_are() {
        assert_aligned(8, &[4, 8, 1]);
        for of in [1, 2, 8, 256] {
            assert!(std::panic::catch_unwind(|| assert_aligned(of, &[4, 2])).is_err(), "{of}");
        }
    }

    #[test]
    fn padding_says_its_bytes_and_what_to_write() {
        let text =
            |before, from, to, fields: &[&str]| Padding::new("Cell", before, from, to, fields).as_str().to_owned();
        let said = text("large", 2, 4, &["small", "large"]);
        let expected = "`Cell` has padding before its field `large`: bytes 2 to 3. Put larger numbers first, or write a \
                        field there: `padding: u16,`";
        assert_eq!(said, expected);
        let said = text("", 17, 24, &["x", "padding"]);
        let expected = "`Cell` has padding at its end: bytes 17 to 23. Put larger numbers first, or write a field there: \
                        `padding1: [u8; 7],`";
        assert_eq!(said, expected);
        assert!(text("", 8, 16, &[]).ends_with("`padding: [u32; 2],`"));
        assert!(text("y", 9, 10, &[]).contains(": byte 9. "));
    }
}
