//! Sets of events and relations between them, as bits.
//!
//! A [`Relation`] over `n` events is a matrix of `n` rows; a row is the [`Set`] of events that an event is related
//! to. The names follow the notation of memory models: `a.then(&b)` is `a ; b`, `r.from(&s)` is `[s] ; r`, `r.to(&s)`
//! is `r ; [s]`, `r.inverse()` is `r^-1`, `r.plus()` is `r+`, `r.maybe()` is `r?`.

mod closure;

use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

use smallvec::{SmallVec, smallvec};

const BITS: usize = u64::BITS as usize;

/// The words of a set: those of up to 128 events need no allocation.
type Row = SmallVec<[u64; 2]>;

/// The words of a relation: those over up to 64 events, as most graphs have, need no allocation.
type Rows = SmallVec<[u64; BITS]>;

/// A set of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Set {
    words: Row,
}

impl Set {
    /// The empty set, of events below `n`.
    pub fn new(n: usize) -> Set {
        Set { words: smallvec![0; n.div_ceil(BITS)] }
    }

    /// The events below `n` for which `holds`.
    pub fn of(n: usize, holds: impl Fn(usize) -> bool) -> Set {
        let mut set = Set::new(n);
        (0..n).filter(|&event| holds(event)).for_each(|event| set.insert(event));
        set
    }

    /// Adds an event; the set grows where it must.
    pub fn insert(&mut self, event: usize) {
        if event / BITS >= self.words.len() {
            self.words.resize(event / BITS + 1, 0);
        }
        self.words[event / BITS] |= 1 << (event % BITS);
    }

    /// Removes an event; does nothing if it is not in the set.
    pub fn remove(&mut self, event: usize) {
        if let Some(word) = self.words.get_mut(event / BITS) {
            *word &= !(1 << (event % BITS));
        }
    }

    /// Whether the event is in the set.
    #[inline]
    pub fn contains(&self, event: usize) -> bool {
        self.words.get(event / BITS).is_some_and(|word| word >> (event % BITS) & 1 != 0)
    }

    /// Whether there is no event in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The number of events in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The events, in ascending order.
    pub fn iter(&self) -> Ones<'_> {
        Ones::new(&self.words)
    }

    /// Whether every event of this set is in the other.
    pub fn is_subset(&self, other: &Set) -> bool {
        self.words.iter().enumerate().all(|(at, &word)| word & !other.word(at) == 0)
    }

    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }
}

/// The set bits of some words, in ascending order.
pub struct Ones<'a> {
    words: &'a [u64],
    at: usize,
    left: u64,
}

impl<'a> Ones<'a> {
    #[inline]
    fn new(words: &'a [u64]) -> Self {
        Ones { words, at: 0, left: words.first().copied().unwrap_or(0) }
    }
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            self.at += 1;
            self.left = *self.words.get(self.at)?;
        }
        let bit = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(self.at * BITS + bit)
    }
}

/// Combines the words of two sets or relations; where one has fewer, the others count as 0.
fn combine(result: &mut [u64], a: &[u64], b: &[u64], op: impl Fn(u64, u64) -> u64) {
    for (part, words) in parts(result) {
        let (a, b) = (a.get(part..).unwrap_or(&[]), b.get(part..).unwrap_or(&[]));
        if let (Some(a), Some(b)) = (a.get(..words.len()), b.get(..words.len())) {
            words.iter_mut().zip(a.iter().zip(b)).for_each(|(word, (&a, &b))| *word = op(a, b));
        } else {
            let at = |words: &[u64], at: usize| words.get(at).copied().unwrap_or(0);
            words.iter_mut().enumerate().for_each(|(number, word)| *word = op(at(a, number), at(b, number)));
        }
    }
}

macro_rules! pointwise {
    ($type:ident, $words:ident, $like:expr; $($trait:ident $method:ident $op:expr),+) => {$(
        impl $trait<&$type> for &$type {
            type Output = $type;

            fn $method(self, other: &$type) -> $type {
                let mut result = $like(self, other);
                combine(&mut result.$words, &self.$words, &other.$words, $op);
                result
            }
        }

        impl $trait<$type> for $type {
            type Output = $type;

            fn $method(self, other: $type) -> $type {
                $trait::$method(&self, &other)
            }
        }

        impl $trait<&$type> for $type {
            type Output = $type;

            fn $method(self, other: &$type) -> $type {
                $trait::$method(&self, other)
            }
        }
    )+};
}

pointwise!(Set, words, |a: &Set, b: &Set| Set { words: smallvec![0; a.words.len().max(b.words.len())] };
    BitOr bitor |a, b| a | b, BitAnd bitand |a, b| a & b, Sub sub |a, b| a & !b);

/// A relation over events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relation {
    events: usize,
    /// The number of words per row.
    width: usize,
    bits: Rows,
}

// Only relations over the same events are combined, such as those of one graph.
pointwise!(Relation, bits, |a: &Relation, _: &Relation| Relation::new(a.events);
    BitOr bitor |a, b| a | b, BitAnd bitand |a, b| a & b, Sub sub |a, b| a & !b);

impl BitOrAssign<&Relation> for Relation {
    fn bitor_assign(&mut self, other: &Relation) {
        for (part, words) in parts(&mut self.bits) {
            words.iter_mut().zip(other.bits.iter().skip(part)).for_each(|(a, b)| *a |= b);
        }
    }
}

impl Relation {
    /// The empty relation over `n` events; over none where the computation is to end early, so that what follows costs
    /// nothing.
    pub fn new(n: usize) -> Relation {
        let n = if ends_early(n, 0) { 0 } else { n };
        let width = n.div_ceil(BITS);
        Relation { events: n, width, bits: smallvec![0; n * width] }
    }

    /// The pairs of events below `n` for which `holds`.
    pub fn of(n: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let mut relation = Relation::new(n);
        for a in events(n) {
            (0..n).filter(|&b| holds(a, b)).for_each(|b| relation.insert(a, b));
        }
        relation
    }

    /// All pairs of an event of `a` with an event of `b`.
    pub fn product(n: usize, a: &Set, b: &Set) -> Relation {
        let mut relation = Relation::new(n);
        for from in a.iter().take_while(|&from| !ends_early(n, from)) {
            relation.insert_all(from, b);
        }
        relation
    }

    /// Every event of the set with itself.
    pub fn identity(n: usize, set: &Set) -> Relation {
        let mut relation = Relation::new(n);
        set.iter().for_each(|event| relation.insert(event, event));
        relation
    }

    /// The number of events that the relation is over.
    pub fn events(&self) -> usize {
        self.events
    }

    #[inline]
    fn row(&self, event: usize) -> &[u64] {
        self.bits.get(event * self.width..(event + 1) * self.width).unwrap_or(&[])
    }

    #[inline]
    fn row_mut(&mut self, event: usize) -> &mut [u64] {
        self.bits.get_mut(event * self.width..(event + 1) * self.width).unwrap_or(&mut [])
    }

    /// Whether `a` is related to `b`.
    #[inline]
    pub fn has(&self, a: usize, b: usize) -> bool {
        let word = self.bits.get(a * self.width + b / BITS).filter(|_| b < self.width * BITS);
        word.is_some_and(|word| word >> (b % BITS) & 1 != 0)
    }

    /// Relates `a` to `b`.
    #[inline]
    pub fn insert(&mut self, a: usize, b: usize) {
        if let Some(word) = self.row_mut(a).get_mut(b / BITS) {
            *word |= 1 << (b % BITS);
        }
    }

    /// Relates `a` to every event of `set`.
    pub fn insert_all(&mut self, a: usize, set: &Set) {
        self.row_mut(a).iter_mut().enumerate().for_each(|(at, word)| *word |= set.word(at));
    }

    /// Relates `a` to every event that `other` relates `b` to.
    pub fn insert_row(&mut self, a: usize, other: &Relation, b: usize) {
        self.row_mut(a).iter_mut().zip(other.row(b)).for_each(|(to, from)| *to |= from);
    }

    /// The events that `a` is related to.
    pub fn after(&self, a: usize) -> Ones<'_> {
        Ones::new(self.row(a))
    }

    /// The events that `a` is related to, as a set.
    pub fn after_set(&self, a: usize) -> Set {
        Set { words: self.row(a).into() }
    }

    /// All related pairs, in ascending order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        events(self.events).flat_map(|a| self.after(a).map(move |b| (a, b)))
    }

    /// Whether no pair is related.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&word| word == 0)
    }

    /// The pairs that begin in `set`: `[set] ; self`.
    pub fn from(&self, set: &Set) -> Relation {
        let mut relation = Relation::new(self.events);
        let events = relation.events;
        for event in set.iter().take_while(|&event| event < events) {
            relation.row_mut(event).copy_from_slice(self.row(event));
        }
        relation
    }

    /// The pairs that end in `set`: `self ; [set]`.
    pub fn to(&self, set: &Set) -> Relation {
        let mut relation = self.clone();
        for event in events(self.events) {
            let row = relation.row_mut(event);
            row.iter_mut().enumerate().for_each(|(at, word)| *word &= set.word(at));
        }
        relation
    }

    /// The related pairs for which `holds`.
    pub fn filter(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let mut relation = Relation::new(self.events);
        self.pairs().filter(|&(a, b)| holds(a, b)).for_each(|(a, b)| relation.insert(a, b));
        relation
    }

    /// The composition `self ; next`.
    pub fn then(&self, next: &Relation) -> Relation {
        let mut relation = Relation::new(self.events);
        if self.width == 1 && next.events >= self.events {
            for (to, &row) in relation.bits.iter_mut().zip(&self.bits) {
                *to = Ones::new(&[row]).fold(0, |to, middle| to | next.bits[middle]);
            }
            return relation;
        }
        if next.width == self.width && next.events >= self.events {
            match self.width {
                2 => return self.then_of::<2>(next, relation),
                3 => return self.then_of::<3>(next, relation),
                4 => return self.then_of::<4>(next, relation),
                _ => {}
            }
        }
        for a in events(self.events) {
            for b in self.after(a) {
                let row = relation.row_mut(a);
                row.iter_mut().zip(next.row(b)).for_each(|(to, from)| *to |= from);
            }
        }
        relation
    }

    /// The composition of relations with rows of `W` words, which the compiler keeps in registers: of the graphs that
    /// are searched, most have up to 256 events.
    fn then_of<const W: usize>(&self, next: &Relation, mut relation: Relation) -> Relation {
        let next = next.bits.as_chunks::<W>().0;
        for (to, row) in relation.bits.as_chunks_mut::<W>().0.iter_mut().zip(self.bits.as_chunks::<W>().0) {
            for middle in Ones::new(row) {
                let behind = &next[middle];
                (0..W).for_each(|word| to[word] |= behind[word]);
            }
        }
        relation
    }

    /// The inverse `self^-1`.
    pub fn inverse(&self) -> Relation {
        let mut relation = Relation::new(self.events);
        self.pairs().for_each(|(a, b)| relation.insert(b, a));
        relation
    }

    /// The reflexive relation `self?`: with every event related to itself.
    pub fn maybe(&self) -> Relation {
        let mut relation = self.clone();
        (0..self.events).for_each(|event| relation.insert(event, event));
        relation
    }

    /// The relation over `n` events, of which those beyond the present ones are related to none.
    pub fn grown(&self, n: usize) -> Relation {
        if n.div_ceil(BITS) == self.width {
            let mut bits = self.bits.clone();
            bits.resize(n * self.width, 0);
            return Relation { events: n, width: self.width, bits };
        }
        let mut relation = Relation::new(n);
        self.pairs().for_each(|(a, b)| relation.insert(a, b));
        relation
    }
}

/// The parts of the words of a large relation, each with the place of its first word; fewer where the computation is to
/// end early.
fn parts(words: &mut [u64]) -> impl Iterator<Item = (usize, &mut [u64])> {
    const WORDS: usize = 1 << 15;
    let parts = words.chunks_mut(WORDS).enumerate().map(|(number, words)| (number * WORDS, words));
    parts.take_while(|&(first, _)| first == 0 || !crate::stop::requested())
}

/// All events below `n`; fewer where the computation over them is to end early.
pub(crate) fn events(n: usize) -> impl Iterator<Item = usize> {
    (0..n).take_while(move |&event| !ends_early(n, event))
}

/// Whether a computation over `events` events, which has reached event `at`, is to end early; checked periodically, and
/// never where there are few events. A step from one event to the next takes some milliseconds where there are
/// thousands and the compiler did not optimize; a tenth of a second where there are tens of thousands.
pub(crate) fn ends_early(events: usize, at: usize) -> bool {
    events >= 512 && (events >= 4096 || at.is_multiple_of(8)) && crate::stop::requested()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn relation(n: usize, pairs: &[(usize, usize)]) -> Relation {
        let mut relation = Relation::new(n);
        pairs.iter().for_each(|&(a, b)| relation.insert(a % n, b % n));
        relation
    }

    /// The transitive closure, by its definition.
    fn closed(relation: &Relation) -> Relation {
        let next = relation | &relation.then(relation);
        if next == *relation { next } else { closed(&next) }
    }

    proptest! {
        #[test]
        fn operators_mean_what_their_names_say(
            n in 1usize..80,
            a in prop::collection::vec((0usize..80, 0usize..80), 0..60),
            b in prop::collection::vec((0usize..80, 0usize..80), 0..60),
            s in prop::collection::vec(0usize..80, 0..20),
        ) {
            let (a, b) = (relation(n, &a), relation(n, &b));
            let set = Set::of(n, |event| s.contains(&event));
            prop_assert_eq!(&a | &b, Relation::of(n, |x, y| a.has(x, y) || b.has(x, y)));
            prop_assert_eq!(&a - &b, Relation::of(n, |x, y| a.has(x, y) && !b.has(x, y)));
            prop_assert_eq!(a.then(&b), Relation::of(n, |x, z| (0..n).any(|y| a.has(x, y) && b.has(y, z))));
            prop_assert_eq!(a.inverse(), Relation::of(n, |x, y| a.has(y, x)));
            prop_assert_eq!(a.from(&set), Relation::of(n, |x, y| set.contains(x) && a.has(x, y)));
            prop_assert_eq!(a.to(&set), Relation::of(n, |x, y| set.contains(y) && a.has(x, y)));
            let closure = closed(&a);
            prop_assert_eq!(a.plus(), closure.clone());
            prop_assert_eq!(b.then_transitive(&closure), b.then(&closure));
            let forwards: Vec<_> = a.pairs().filter(|(x, y)| x != y).map(|(x, y)| (x.min(y), x.max(y))).collect();
            let forwards = relation(n, &forwards);
            prop_assert_eq!(forwards.plus(), closed(&forwards));
            for (first, second) in b.pairs() {
                let mut longer = closure.clone();
                longer.insert_closed(first, second);
                prop_assert_eq!(longer, (&closure | &relation(n, &[(first, second)])).plus());
            }
            prop_assert_eq!(a.is_acyclic(), closure.is_irreflexive());
            prop_assert_eq!(a.grown(n + 70).pairs().collect::<Vec<_>>(), a.pairs().collect::<Vec<_>>());
        }
    }
}
