//! The widths of the cells that memory is cut into. They are as narrow as the narrowest access, which a search finds out
//! while it runs, and then begins again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use wattle_modules::types::Space;

use super::part::Part;
use super::range::Range;

/// The widest access to one cell in bytes.
const WIDEST: u8 = 8;

/// The number of words of a memory with cells of their own, beyond which all of it gets narrower cells.
const MOST_SINGLE: usize = 8;

/// A word of 8 bytes: the numbers of its memory, which is the same for all blocks' shared memories, and of the word there.
type Word = (usize, u64);

/// The widths of all cells, in bytes.
#[derive(Debug)]
pub(crate) struct Widths {
    /// Those of each range, and last that of shared memory, where no word has its own.
    usual: Vec<u8>,
    of_words: HashMap<Word, u8>,
    /// Those that accesses of the running search need to be narrower.
    wanted: Mutex<BTreeMap<Word, u8>>,
}

impl Widths {
    pub(super) fn new(ranges: &[Range], parts: &[Part]) -> Widths {
        let width = |range: &Range| range.item.map_or(WIDEST, |item| item.size());
        let usual = ranges.iter().map(width).chain([usual_width(parts, Space::Shared)]).collect();
        Widths { usual, of_words: HashMap::new(), wanted: Mutex::default() }
    }

    fn word(&self, memory: u32, offset: u64) -> Word {
        ((memory as usize).min(self.usual.len() - 1), offset / 8)
    }

    /// The width of the cell at a byte of a memory.
    pub(crate) fn at(&self, memory: u32, offset: u64) -> u8 {
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
        let usual = self.usual.iter().enumerate().filter(|(memory, _)| is_met(*memory)).map(|(_, width)| *width);
        let own = self.of_words.iter().filter(|((memory, _), _)| is_met(*memory)).map(|(_, width)| *width);
        usual.chain(own).min().unwrap_or(WIDEST)
    }

    /// Records that a word is accessed in pieces of another width than its cells have.
    pub(crate) fn wants(&self, memory: u32, offset: u64, bytes: u8) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let width = wanted.entry(self.word(memory, offset)).or_insert(bytes);
        *width = bytes.min(*width);
    }

    /// Whether the cells of a word are as narrow as some access to it wanted them.
    pub(crate) fn was_narrowed(&self, memory: u32, offset: u64) -> bool {
        self.of_words.contains_key(&self.word(memory, offset))
    }

    /// Whether a search has met cells that are too wide.
    pub(super) fn are_too_wide(&self) -> bool {
        !self.wanted.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Makes cells as wide as a search wanted them; returns whether some were too wide.
    pub(super) fn narrow(&mut self) -> bool {
        let wanted = std::mem::take(self.wanted.get_mut().unwrap_or_else(PoisonError::into_inner));
        let any = !wanted.is_empty();
        for ((memory, word), width) in wanted {
            self.of_words.insert((memory, word), width);
            // Where many words differ from the rest of their memory, the rest is likely to be like them.
            if self.of_words.keys().filter(|(of, _)| *of == memory).count() > MOST_SINGLE {
                self.usual[memory] = width.min(self.usual[memory]);
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
