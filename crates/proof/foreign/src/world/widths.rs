//! The widths of the cells that memory is cut into. They are as narrow as the narrowest access, but for words that a
//! strong access takes whole: plain reads of a part of such a cell read all of it. A search finds out while it runs,
//! and then begins again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use wattle_core::lock;
use wattle_modules::types::Space;

use super::part::Part;
use crate::range::Range;

/// The widest access to one cell in bytes.
const WIDEST: u8 = 8;

/// The number of words of a memory with cells of their own, beyond which all of it gets narrower cells.
const MOST_SINGLE: usize = 8;

/// A word of 8 bytes: the numbers of its memory, which is the same for all blocks' shared memories, and of the word
/// there.
type Word = (usize, u64);

/// The width of the cells of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    /// The width in bytes.
    pub(crate) bytes: u8,
    /// Whether some strong access takes a cell whole: it cannot be narrower.
    pub(crate) is_whole: bool,
}

/// The widths of all cells.
#[derive(Debug)]
pub(crate) struct Widths {
    /// The width of the cells of each range, and last of shared memory, where a word has none of its own.
    usual: Vec<Width>,
    of_words: HashMap<Word, Width>,
    /// The widths that accesses of the running search need and that differ from these.
    wanted: Mutex<BTreeMap<Word, Width>>,
}

impl Widths {
    pub(super) fn new(ranges: &[Range], parts: &[Part]) -> Widths {
        let width = |range: &Range| range.item.map_or(WIDEST, |item| item.size());
        let usual = ranges.iter().map(width).chain([usual_width(parts, Space::Shared)]);
        let usual = usual.map(|bytes| Width { bytes, is_whole: false }).collect();
        Widths { usual, of_words: HashMap::new(), wanted: Mutex::default() }
    }

    fn word(&self, memory: u32, offset: u64) -> Word {
        ((memory as usize).min(self.usual.len() - 1), offset / 8)
    }

    /// The width in bytes of the cell at a byte of a memory.
    pub(crate) fn at(&self, memory: u32, offset: u64) -> u8 {
        self.of(memory, offset).bytes
    }

    /// The width of the cell at a byte of a memory.
    pub(crate) fn of(&self, memory: u32, offset: u64) -> Width {
        let word = self.word(memory, offset);
        let own = if self.of_words.is_empty() { None } else { self.of_words.get(&word) };
        own.copied().unwrap_or(self.usual[word.0])
    }

    /// The width of the narrowest cell that an access to a space may meet.
    pub(crate) fn least(&self, space: Space) -> u8 {
        let shared = self.usual.len() - 1;
        let is_met = |memory: usize| match space {
            Space::Shared => memory == shared,
            Space::Generic => true,
            Space::Global | Space::Local | Space::Param | Space::Const => memory != shared,
        };
        let usual = self.usual.iter().enumerate().filter(|(memory, _)| is_met(*memory)).map(|(_, width)| width.bytes);
        let own = self.of_words.iter().filter(|((memory, _), _)| is_met(*memory)).map(|(_, width)| width.bytes);
        usual.chain(own).min().unwrap_or(WIDEST)
    }

    /// Records that a word is accessed in pieces of another width than its cells have, which a strong access takes
    /// whole; returns whether it can have them.
    pub(crate) fn wants(&self, memory: u32, offset: u64, bytes: u8, is_strong: bool) -> bool {
        let word = self.word(memory, offset);
        if self.of_words.get(&word).is_some_and(|own| own.is_whole) {
            return false;
        }
        let mut wanted = lock(&self.wanted);
        let one = wanted.entry(word).or_insert(Width { bytes, is_whole: is_strong });
        if is_strong || !one.is_whole {
            *one = Width {
                bytes: if one.is_whole == is_strong { bytes.min(one.bytes) } else { bytes },
                is_whole: is_strong,
            };
        }
        true
    }

    /// Whether a search has met cells of another width than it needs.
    pub(super) fn are_unfit(&self) -> bool {
        !lock(&self.wanted).is_empty()
    }

    /// Makes cells as wide as a search wanted them; returns whether some had another width.
    pub(super) fn adapt(&mut self) -> bool {
        let wanted = std::mem::take(self.wanted.get_mut().unwrap_or_else(PoisonError::into_inner));
        let any = !wanted.is_empty();
        for ((memory, word), width) in wanted {
            self.of_words.insert((memory, word), width);
            // Where many words differ from the rest of their memory, the rest is likely to be like them.
            let is_alike = |(&(of, _), own): (&Word, &Width)| of == memory && own.is_whole == width.is_whole;
            if self.of_words.iter().filter(|&own| is_alike(own)).count() > MOST_SINGLE {
                let usual = &mut self.usual[memory];
                usual.bytes = if width.is_whole { width.bytes } else { width.bytes.min(usual.bytes) };
                usual.is_whole |= width.is_whole;
            }
        }
        any
    }
}

/// The width of most accesses to a space in the kernel's text.
fn usual_width(parts: &[Part], space: Space) -> u8 {
    let mut counts = [0u32; WIDEST as usize + 1];
    for step in parts.iter().flat_map(|part| &part.kernel().steps) {
        if let Some(access) = step.op.outline(|_| {}, |_| {}).access.filter(|access| access.space == space) {
            counts[access.bytes as usize] += 1;
        }
    }
    let usual = (1..=WIDEST).max_by_key(|&bytes| (counts[bytes as usize], bytes));
    usual.unwrap_or(WIDEST)
}
