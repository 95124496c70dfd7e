//! Vector clocks: how far each thread knows every other thread's past.
//!
//! A clock is a vector of chunks, each shared until it changes, so that passing a clock on copies a pointer, and
//! joining clocks that have most of their past in common visits only the rest.

use std::sync::Arc;

const CHUNK: usize = 64;

/// Thread numbers are assigned in multiples of this, so that a launch covers whole chunks.
pub(super) const ALIGNMENT: u32 = CHUNK as u32;

type Chunk = Arc<[u32; CHUNK]>;

/// For each thread, the last of its epochs that is known; 0 if none is.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Option<Arc<Vec<Option<Chunk>>>>);

impl Clock {
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn get(&self, thread: u32) -> u32 {
        let (chunk, lane) = (thread as usize / CHUNK, thread as usize % CHUNK);
        match self.0.as_ref().and_then(|chunks| chunks.get(chunk)) {
            Some(Some(chunk)) => chunk[lane],
            _ => 0,
        }
    }

    pub fn set(&mut self, thread: u32, epoch: u32) {
        let (chunk, lane) = (thread as usize / CHUNK, thread as usize % CHUNK);
        let chunks = Arc::make_mut(self.0.get_or_insert_default());
        if chunks.len() <= chunk {
            chunks.resize(chunk + 1, None);
        }
        let chunk = chunks[chunk].get_or_insert_with(|| Arc::new([0; CHUNK]));
        Arc::make_mut(chunk)[lane] = epoch;
    }

    /// Adds all epochs of these threads, also future ones; `from` is a multiple of [`ALIGNMENT`].
    pub fn cover(&mut self, from: u32, to: u32) {
        let (from, to) = (from as usize / CHUNK, (to as usize).div_ceil(CHUNK));
        let chunks = Arc::make_mut(self.0.get_or_insert_default());
        chunks.resize(chunks.len().max(to), None);
        let all = Arc::new([u32::MAX; CHUNK]);
        chunks[from..to].fill(Some(all));
    }

    /// Adds everything that the other clock knows.
    pub fn join(&mut self, other: &Clock) {
        let Some(theirs) = &other.0 else { return };
        let Some(mine) = &mut self.0 else {
            self.0 = Some(theirs.clone());
            return;
        };
        if Arc::ptr_eq(mine, theirs) {
            return;
        }
        let (mut ahead, mut behind) = (mine.len() > theirs.len(), theirs.len() > mine.len());
        for (mine, theirs) in mine.iter().zip(theirs.iter()) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) if !Arc::ptr_eq(mine, theirs) => {
                    ahead |= mine.iter().zip(theirs.iter()).any(|(mine, theirs)| mine > theirs);
                    behind |= mine.iter().zip(theirs.iter()).any(|(mine, theirs)| mine < theirs);
                }
                (Some(_), None) => ahead = true,
                (None, Some(_)) => behind = true,
                _ => {}
            }
            if ahead && behind {
                break;
            }
        }
        match (ahead, behind) {
            (_, false) => {}
            (false, true) => *mine = theirs.clone(),
            (true, true) => merge(Arc::make_mut(mine), theirs),
        }
    }
}

fn merge(mine: &mut Vec<Option<Chunk>>, theirs: &[Option<Chunk>]) {
    mine.resize(mine.len().max(theirs.len()), None);
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        let Some(theirs) = theirs else { continue };
        match mine {
            None => *mine = Some(theirs.clone()),
            Some(chunk) if Arc::ptr_eq(chunk, theirs) => {}
            Some(chunk) => {
                let chunk = Arc::make_mut(chunk);
                chunk.iter_mut().zip(theirs.iter()).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Threads and the last of their epochs that is known.
    type Entries<'e> = &'e [(u32, u32)];

    fn clock(entries: Entries<'_>) -> Clock {
        let mut clock = Clock::default();
        entries.iter().for_each(|&(thread, epoch)| clock.set(thread, epoch));
        clock
    }

    proptest! {
        #[test]
        fn a_join_is_the_greatest_of_both(
            x in prop::collection::vec((0u32..300, 1u32..9), 0..20),
            y in prop::collection::vec((0u32..300, 1u32..9), 0..20),
            shared in prop::collection::vec((0u32..300, 1u32..9), 0..20),
        ) {
            let common = clock(&shared);
            let (mut a, mut b) = (common.clone(), common);
            x.iter().for_each(|&(thread, epoch)| a.set(thread, epoch));
            y.iter().for_each(|&(thread, epoch)| b.set(thread, epoch));
            let mut joined = a.clone();
            joined.join(&b);
            for thread in 0..320 {
                prop_assert_eq!(joined.get(thread), a.get(thread).max(b.get(thread)));
            }
        }
    }

    fn is_shared(a: &Clock, b: &Clock) -> bool {
        matches!((&a.0, &b.0), (Some(a), Some(b)) if Arc::ptr_eq(a, b))
    }

    /// What a join leaves: one of the two as it is, or a new clock.
    #[derive(Debug, PartialEq)]
    enum Joined {
        Mine,
        Theirs,
        New,
    }

    #[test]
    fn a_join_copies_nothing_where_one_knows_all_that_the_other_does() {
        // The threads are of one chunk, of a later one, and of one behind a chunk of which nothing is known.
        let cases: &[(Entries<'_>, Entries<'_>, Joined)] = &[
            (&[(0, 1)], &[(0, 2)], Joined::Theirs),
            (&[(0, 2)], &[(0, 1)], Joined::Mine),
            (&[(0, 1)], &[(0, 1)], Joined::Mine),
            (&[(0, 1)], &[(1, 1)], Joined::New),
            (&[(0, 1)], &[(0, 1), (100, 1)], Joined::Theirs),
            (&[(0, 1), (100, 1)], &[(0, 1)], Joined::Mine),
            (&[(0, 1), (100, 1)], &[(0, 2)], Joined::New),
            (&[(0, 2)], &[(0, 1), (100, 1)], Joined::New),
            (&[(0, 5)], &[(128, 1)], Joined::New),
            (&[(128, 1)], &[(0, 5)], Joined::New),
            (&[(128, 1)], &[(0, 5), (128, 1)], Joined::Theirs),
            (&[(0, 5), (128, 1)], &[(128, 1)], Joined::Mine),
            (&[], &[(0, 1)], Joined::Theirs),
            (&[(0, 1)], &[], Joined::Mine),
        ];
        for (mine, theirs, expected) in cases {
            let (mine, theirs) = (clock(mine), clock(theirs));
            let mut joined = mine.clone();
            joined.join(&theirs);
            let found = match (is_shared(&joined, &mine), is_shared(&joined, &theirs)) {
                (true, _) => Joined::Mine,
                (_, true) => Joined::Theirs,
                (false, false) => Joined::New,
            };
            assert_eq!(found, *expected, "{mine:?} and {theirs:?}");
            for thread in 0..192 {
                assert_eq!(joined.get(thread), mine.get(thread).max(theirs.get(thread)), "{mine:?} and {theirs:?}");
            }
        }
    }

    #[test]
    fn a_join_shares_the_chunks_that_both_have() {
        let common = clock(&[(0, 1)]);
        let (mut a, mut b) = (common.clone(), common.clone());
        a.set(64, 1);
        b.set(128, 1);
        a.join(&b);
        let first = |clock: &Clock| clock.0.as_ref().and_then(|chunks| chunks[0].clone()).expect("a chunk");
        assert!(Arc::ptr_eq(&first(&a), &first(&common)));
    }

    #[test]
    fn a_clock_is_empty_until_something_is_known() {
        assert!(Clock::default().is_empty());
        assert!(!clock(&[(0, 1)]).is_empty());
    }

    #[test]
    fn a_finished_launch_is_known_whole() {
        let mut clock = clock(&[(3, 7)]);
        clock.cover(64, 130);
        assert_eq!((clock.get(3), clock.get(63), clock.get(64), clock.get(129)), (7, 0, u32::MAX, u32::MAX));
    }
}
