//! Results of finished searches, kept for later runs by the content of what was searched.
//!
//! A [`Key`] is a hash of all that a search can depend on; whoever keeps results adds what it is itself ([`Keeper`]).
//! Only final results are kept: a search that a limit ended, or that found something wrong, is made again.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use crate::search::Statistics;

/// Keeps the results of searches.
pub trait Keeper: fmt::Debug + Send + Sync {
    /// The result that was kept for this content by the same program.
    fn find(&self, key: &Key) -> Option<Vec<u8>>;

    /// Keeps a result. Where that fails, nothing is kept.
    fn keep(&self, key: &Key, result: &[u8]);
}

/// A hash of some content, which no other content has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub [u8; 32]);

/// The content that a key is made of, part by part.
#[derive(Clone, Debug, Default)]
pub struct Content(blake3::Hasher);

impl Content {
    /// The content of a search of that kind.
    pub fn of(kind: &str) -> Content {
        let mut content = Content::default();
        kind.hash(&mut content);
        content
    }

    /// Adds what a value shows of itself.
    pub fn add_debug(&mut self, value: &dyn fmt::Debug) {
        // A text is followed by a byte that no text contains, so that "ab", "c" and "a", "bc" differ.
        let _ = fmt::Write::write_fmt(self, format_args!("{value:?}"));
        self.0.update(&[0xff]);
    }

    /// The key of all that was added.
    pub fn key(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}

impl Hasher for Content {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finalize().as_bytes().iter().take(8).fold(0, |all, &byte| all << 8 | u64::from(byte))
    }
}

impl fmt::Write for Content {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

/// The time of a search from which on its result is kept: what takes less is as quickly searched as found.
pub const WORTH_KEEPING: Duration = Duration::from_millis(2);

/// A yes or a no, with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Whether the answer is a yes.
    pub yes: bool,
    /// The reason; empty where there is none.
    pub reason: String,
    /// The counts of the search.
    pub statistics: Statistics,
}

impl Answered {
    /// The answer that was kept under a key.
    pub fn find(keeper: &dyn Keeper, key: &Key) -> Option<Answered> {
        let kept = keeper.find(key)?;
        let mut from = Unpacked(&kept);
        let yes = match from.number()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let answered = Answered { yes, reason: from.text()?.to_owned(), statistics: from.statistics()? };
        from.0.is_empty().then_some(answered)
    }

    /// Keeps an answer that took some time.
    pub fn keep(&self, keeper: &dyn Keeper, key: &Key, time: Duration) {
        if time >= WORTH_KEEPING {
            let mut packed = Packed::default();
            packed.number(self.yes.into());
            packed.text(&self.reason);
            packed.statistics(&self.statistics);
            keeper.keep(key, &packed.0);
        }
    }
}

/// A result as words and texts, one behind the other.
#[derive(Debug, Default)]
pub struct Packed(pub Vec<u8>);

impl Packed {
    /// Adds a number to what is packed.
    pub fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    /// Adds a text to what is packed.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    /// Adds the counts of a search.
    pub fn statistics(&mut self, statistics: &Statistics) {
        let Statistics { complete, abandoned, stuck, dependent, bounded, endless, undecided, cut, alike, apart } =
            *statistics;
        let numbers = [complete, abandoned, stuck, dependent, bounded, endless, undecided, cut, alike, apart];
        numbers.into_iter().for_each(|number| self.number(number));
    }

    /// Adds items, each by `pack`.
    pub fn all<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut pack: impl FnMut(&mut Packed, T)) {
        self.number(items.len() as u64);
        items.for_each(|item| pack(self, item));
    }
}

/// A result that is taken apart in the order in which it was packed; `None` where it has another form.
#[derive(Debug)]
pub struct Unpacked<'b>(pub &'b [u8]);

impl<'b> Unpacked<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes the next number out of what was packed.
    pub fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// Takes the next text out of what was packed.
    pub fn text(&mut self) -> Option<&'b str> {
        let bytes = usize::try_from(self.number()?).ok()?;
        std::str::from_utf8(self.take(bytes)?).ok()
    }

    /// The next counts of a search.
    pub fn statistics(&mut self) -> Option<Statistics> {
        Some(Statistics {
            complete: self.number()?,
            abandoned: self.number()?,
            stuck: self.number()?,
            dependent: self.number()?,
            bounded: self.number()?,
            endless: self.number()?,
            undecided: self.number()?,
            cut: self.number()?,
            alike: self.number()?,
            apart: self.number()?,
        })
    }

    /// Takes the next items out of what was packed.
    pub fn all<T, C: FromIterator<T>>(&mut self, mut item: impl FnMut(&mut Unpacked<'b>) -> Option<T>) -> Option<C> {
        (0..self.number()?).map(|_| item(self)).collect()
    }
}
