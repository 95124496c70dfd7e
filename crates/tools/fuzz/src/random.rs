//! The choices that make a case: of a seed, or those of another case of which some are changed.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// The choices of a case, as numbers of which 0 is the simplest.
///
/// They stand on pages, so that other choices for the parameters do not move those for the statements.
pub(crate) type Choices = Vec<Vec<u64>>;

/// A source of choices, which remembers them.
///
/// Choices of a seed are the same on every machine, since seeds of failing cases are written down.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    given: Choices,
    /// The source of new choices, or `None` where choices are given: those that are missing are 0.
    source: Option<Pcg64Mcg>,
    /// The choices made so far.
    pub(crate) made: Choices,
    /// The choices that belong together, such as a statement's: the page, the first choice and the end.
    pub(crate) spans: Vec<(usize, usize, usize)>,
}

impl Random {
    pub(crate) fn seeded(seed: u64) -> Random {
        Random { source: Some(Pcg64Mcg::seed_from_u64(seed)), ..Random::given(Vec::new()) }
    }

    /// A source of these choices; one that is too great becomes the greatest one.
    pub(crate) fn given(given: Choices) -> Random {
        Random { given, source: None, made: vec![Vec::new()], spans: Vec::new() }
    }

    /// A source of choices that stand for one in this sequence; for 0 all of them are 0.
    pub(crate) fn branch(&mut self) -> Random {
        match self.word() {
            0 => Random::given(Vec::new()),
            seed => Random::seeded(seed),
        }
    }

    /// Begins a new page.
    pub(crate) fn turn_page(&mut self) {
        self.made.push(Vec::new());
    }

    /// Records that the choices made since that place belong together.
    pub(crate) fn mark(&mut self, (page, start): (usize, usize)) {
        let end = self.made[page].len();
        self.spans.push((page, start, end));
    }

    /// The place of the next choice.
    pub(crate) fn place(&self) -> (usize, usize) {
        let page = self.made.len() - 1;
        (page, self.made[page].len())
    }

    /// Draws a number in `0..=most`.
    fn draw(&mut self, most: u64) -> u64 {
        let (page, at) = self.place();
        let choice = match &mut self.source {
            None => self.given.get(page).and_then(|given| given.get(at)).map_or(0, |&choice| choice.min(most)),
            Some(source) => ((u128::from(source.next_u64()) * (u128::from(most) + 1)) >> 64) as u64,
        };
        self.made[page].push(choice);
        choice
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.draw(u64::MAX)
    }

    /// Draws a number below `bound`, which is at least 1.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.draw(u64::from(bound.saturating_sub(1))) as u32
    }

    /// Draws a number in `low..=high`.
    pub(crate) fn within(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Whether one of `of` equally likely things comes up.
    pub(crate) fn one_in(&mut self, of: u32) -> bool {
        self.below(of) + 1 == of
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.one_in(2)
    }

    /// Whether a list goes on that has an item in any case: after `most` items it does not.
    pub(crate) fn more(&mut self, items: u32, most: u32) -> bool {
        items < most && self.below(most) != 0
    }

    /// Picks one of several; `all` is not empty.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    /// Picks one of `all`, or returns `None` if it is empty.
    pub(crate) fn choose<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(self.pick(all)) }
    }
}
